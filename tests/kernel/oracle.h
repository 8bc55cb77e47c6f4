// The naive oracle: one element at a time, in wider types than the kernels use.
#pragma once

#include <cstddef>

#include "kernel/types.h"

namespace millrace::kernel::test {

// out = a op b for one element; `out` may be `a` or `b`. Gap bytes of `out` are left alone.
void naive_apply(Op op, Type type, const void* a, const void* b, void* out);

// The same bits in every field. Where `op` computes floating-point values, any NaN is as good as any other.
// Gap bytes must be the same in any case.
bool same_element(Op op, Type type, const void* left, const void* right);

}  // namespace millrace::kernel::test
