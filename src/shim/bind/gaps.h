// Element types whose elements hold bytes that are no data: long doubles in 16 bytes, pairs with padding. Those bytes
// may belong to somebody else and are never written.
#pragma once

#include <cstddef>

#include "kernel/types.h"

namespace millrace::shim {

bool has_gaps(kernel::Type type);

// Copies the data of `elements` elements; the buffers are disjoint, any alignment.
void copy_without_gaps(kernel::Type type, const void* from, void* to, std::size_t elements);

}  // namespace millrace::shim
