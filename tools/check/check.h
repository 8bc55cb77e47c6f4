// `millrace check`: proves for the host MPI in use that no entry of the table slips past the interception. Programs
// in C, Fortran and Python that call every entry are compiled with the host's wrappers and run under the preload in
// check mode, in which calls are marked and not made (docs/entries.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace millrace::tools {

struct CheckOptions {
  std::string launcher;                // the millrace command that starts each program
  std::optional<std::string> mpi;      // its --mpi
  std::optional<std::string> preload;  // instead of the launcher: this preload
  std::string sources;                 // share/millrace/check
  std::string mpicc = "mpicc";
  std::optional<std::string> mpif90;  // none: the wrapper beside mpicc
  std::vector<std::string> fortran_flags;
  std::optional<std::string> python;         // none: python3 beside mpicc, else in PATH
  std::vector<std::string> run_environment;  // NAME=VALUE for the programs, not for the compilers
  bool verbose = false;
};

// Prints one line per language, and a line for each entry that slipped past. 0 if none did.
int run_check(const CheckOptions& options);

// The subcommand: `arguments` starts with "check" and ends with a null pointer.
int check_command(char** arguments, const std::string& launcher, const std::optional<std::string>& mpi);

}  // namespace millrace::tools
