// The compiler wrappers and the Python that belong to one host MPI.
#pragma once

#include <optional>
#include <string>

namespace millrace::tools::check {

// The file that a command name stands for, by PATH; none if there is none that can be run.
std::optional<std::string> find_command(const std::string& name);

// The Fortran wrapper of the installation that `mpicc` belongs to: same directory, same suffix (mpicc.mpich,
// mpicc_abi), so that another MPI's never gets mixed in.
std::optional<std::string> fortran_beside(const std::string& mpicc);

// python3 beside mpicc (a virtual environment), else the first in PATH.
std::optional<std::string> python_beside(const std::string& mpicc);

}  // namespace millrace::tools::check
