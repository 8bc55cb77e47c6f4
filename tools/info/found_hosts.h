// The MPI libraries that a program started here would run on, for `millrace info`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/environment.h"
#include "tools/mpi_library.h"

namespace millrace::tools {

struct FoundHost {
  MpiLibrary library;
  std::string product;  // "Open MPI 4.1.4", "Intel MPI 2021.18.1"
  std::string reason;   // how it was found
};

// In the order of how likely a program uses them, each library once: --mpi, the launcher above, the variables of
// modules, LD_LIBRARY_PATH, the compiler wrapper and the launcher in PATH.
std::vector<FoundHost> find_hosts(const Environment& environment, const std::optional<std::string>& mpi_option);

// Maker and version, read from the file's data: nothing of the library is run.
std::string product_of(const MpiLibrary& library);

}  // namespace millrace::tools
