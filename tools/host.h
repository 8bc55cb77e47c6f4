// Finds the host MPI: the library that a program will run on. A compiled program names it; an interpreter does not,
// so there the launcher above us and what it left in the environment must answer.
#pragma once

#include <optional>
#include <string>

#include "tools/environment.h"
#include "tools/mpi_library.h"

namespace millrace::tools {

struct Host {
  Abi abi = Abi::unknown;             // unknown: nothing was found, or nothing that we have a preload for
  std::optional<MpiLibrary> library;  // the file, if it was found as well
  std::string reason;                 // how it was found, or why the program must run without Millrace
};

// From the needed libraries of the program, which is `file`. Nothing if no MPI is among them.
std::optional<Host> host_of_program(const ElfFile& file, const std::string& program, const Environment& environment);

// For a program that loads its MPI later, if it does at all. `program` is the interpreter's path.
Host host_from_surroundings(const std::string& program, const Environment& environment);

// What --mpi says: a word for the interface, or the path of a library.
Host host_from_option(const std::string& option);

// The library of that interface below an installation's prefix.
std::optional<MpiLibrary> library_below(const std::string& prefix, Abi wanted);

}  // namespace millrace::tools
