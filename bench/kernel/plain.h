// The loop that a C programmer writes, one per (op, type), compiled for this machine: what a kernel is measured
// against.
#pragma once

#include "kernel/kernel_set.h"

namespace millrace::kernel::bench {

// nullptr where there is none.
Reduce2 plain_loop(Op op, Type type);

}  // namespace millrace::kernel::bench
