// Whether MPI_Reduce_local is left to the host although a kernel exists, because every measurement says that the host's
// own code is at least as fast (bench/reductions, docs/results/reductions.md).
#pragma once

#include "kernel/types.h"

namespace millrace::plan {

// Sums and products of x87 extended floats have no vectors: ours is the host's loop without its unrolling (0.75 to 0.87
// of the best host). MAX and MIN are ours: twice as fast (src/kernel/reduce/x87.h).
constexpr bool host_reduces_faster(kernel::Op op, kernel::Type type) {
  return (op == kernel::Op::sum || op == kernel::Op::prod) && type == kernel::Type::f80;
}

}  // namespace millrace::plan
