// The functions that Open MPI calls: one for each kernel, so that a call looks nothing up.
#pragma once

#include "component.h"
#include "kernel/types.h"

namespace millrace::openmpi {

struct Handlers {
  ompi_op_base_handler_fn_t reduce2;
  ompi_op_base_3buff_handler_fn_t reduce3;
};

// From now on every handler runs the kernel that is active now. To be called before the first handler is.
void take_active_kernels();

// The handlers for (op, OMPI_OP_BASE_TYPE_*); null where we have none.
Handlers find_handlers(kernel::Op op, int type_index);

}  // namespace millrace::openmpi
