// Whether MPI_Reduce_local is left to the host although a kernel exists, because every measurement says that the host's
// own code is at least as fast (bench/reductions, docs/results/reductions.md).
#pragma once

#include "kernel/types.h"

namespace millrace::plan {

// x87 extended floats have no vectors: SUM and PROD are the host's loop without its unrolling (0.75 to 0.87 of the best
// host), MAX and MIN are as fast as the host's loop, no faster.
constexpr bool host_reduces_faster(kernel::Op op, kernel::Type type) {
  using kernel::Op;
  const bool is_arithmetic = op == Op::sum || op == Op::prod || op == Op::max || op == Op::min;
  return is_arithmetic && type == kernel::Type::f80;
}

}  // namespace millrace::plan
