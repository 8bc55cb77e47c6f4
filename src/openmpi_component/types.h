// Open MPI's type indices (OMPI_OP_BASE_TYPE_*) as bit layouts.
#pragma once

#include "kernel/types.h"

namespace millrace::openmpi {

// False if we have no kernels for what this index stands for, in the configuration of the Open MPI that we were built
// for.
bool find_type(int type_index, kernel::Type& type);

}  // namespace millrace::openmpi
