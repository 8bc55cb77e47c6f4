// Datatypes that stand for packed elements of another: the same size, and no more than that of extent.
//
// A collective that is given packed blocks with these has the same count and the same size of type as before, so a host
// that chooses an algorithm, or cuts a message, by them does what it does on the ranks whose blocks are not packed.
#pragma once

#include <cstdint>

#include "shim/datatypes/sized_types.h"

namespace millrace::shim {

// Of `size_bytes`, 1 .. 2^31-1; see SizedTypes::get().
HostType packed_type(std::int64_t size_bytes) noexcept;
void forget_packed_types();

}  // namespace millrace::shim
