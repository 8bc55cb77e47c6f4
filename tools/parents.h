// The processes above us, as /proc shows them.
#pragma once

#include <string>
#include <string_view>

#include "tools/mpi_library.h"

namespace millrace::tools {

struct MpiLauncher {
  std::string path;        // ".../bin/hydra_pmi_proxy", ".../bin/prted"; empty if there is none
  Abi abi = Abi::unknown;  // if its name tells
};

// The nearest MPI launcher, or its agent, above this process. One that belongs to the batch system does not count:
// it starts every MPI.
MpiLauncher launcher_above();

bool is_mpi_launcher(std::string_view program);  // by its name: mpirun, mpiexec.hydra, srun, ...

}  // namespace millrace::tools
