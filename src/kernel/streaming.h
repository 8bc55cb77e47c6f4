// Reductions whose output goes past the caches.
#pragma once

#include "kernel/kernel_set.h"

namespace millrace::kernel {

// As find_reduce_n(op, type)(inputs, count, out, elements), which must exist, with non-temporal stores where the
// processor has them. Ends with the fence that makes such stores ordinary ones to other threads.
void reduce_n_streaming(Op op, Type type, const void* const* inputs, std::size_t count, void* out,
                        std::size_t elements);

}  // namespace millrace::kernel
