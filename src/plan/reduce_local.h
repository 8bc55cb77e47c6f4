// Whether MPI_Reduce_local is left to the host although a kernel exists, because every measurement says that the host's
// own code is at least as fast (bench/reductions, docs/results/reductions.md).
#pragma once

#include "kernel/types.h"

namespace millrace::plan {

// x87 extended floats have no vectors: ours is the host's loop with a check for NaN more (MAX, MIN: 0.63 to 0.75 of the
// best host) or without its unrolling (SUM, PROD: 0.75 to 0.87).
constexpr bool host_reduces_faster(kernel::Op op, kernel::Type type) {
  using kernel::Op;
  const bool is_arithmetic = op == Op::sum || op == Op::prod || op == Op::max || op == Op::min;
  return is_arithmetic && type == kernel::Type::f80;
}

}  // namespace millrace::plan
