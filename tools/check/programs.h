// The check programs, compiled with the wrappers of the host MPI.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace millrace::tools::check {

struct Toolchain {
  std::filesystem::path sources;
  std::filesystem::path workplace;
  std::string mpicc;
  std::vector<std::string> fortran;  // the wrapper and flags for it; empty if there is none
};

struct Program {
  std::filesystem::path path;  // empty if it could not be built
  std::string complaint;       // then: what the compiler said
};

Program build_c(const Toolchain& toolchain);

// `language` is mpifh, usempi or f08. A call that the host's compiler or linker rejects is left out, because the host
// may lack the entry: the program finds out whether it does.
Program build_fortran(const Toolchain& toolchain, const std::string& language);

// Whether the Fortran compiler can read this module of the host.
bool has_module(const Toolchain& toolchain, const std::string& name);

}  // namespace millrace::tools::check
