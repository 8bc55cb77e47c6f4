// The wheels of mpi4py choose their MPI when they are imported; these are the rules of mpi4py/_mpiabi.py.
#pragma once

#include <optional>
#include <string>

#include "tools/host.h"

namespace millrace::tools {

// What MPI4PY_LIBMPI and MPI4PY_MPIABI order, if they are set.
std::optional<Host> host_from_mpi4py(const Environment& environment);

// sys.exec_prefix of an interpreter called by this path: of the virtual environment it lies in, if it does.
std::string python_prefix(const std::string& program);

}  // namespace millrace::tools
