// Ops of ours for the host's reductions between nodes, which reduce by our kernels: what a predefined one does to bits
// depends on the host.
#pragma once

#include "kernel/types.h"
#include "shim/bind/word.h"

namespace millrace::shim {

bool prepare_wire_ops() noexcept;  // those that are not there yet; local, by any thread; false if the host refuses
Word wire_op(kernel::Op op);       // 0: there is none
void forget_wire_ops();            // before MPI_Finalize

}  // namespace millrace::shim
