// Datatypes by which packed bytes are received on Open MPI: two halves with a gap between them.
//
// A message that is longer than its receiver has room for is an error, but the receiver's memory behind that room must
// stay as it is. Open MPI 4.1 and 5.0 write past the end of a contiguous receive buffer where the message does not
// travel eagerly (ob1 lets the sender's length decide how much it reads from the other process); into any other
// datatype they write what there is room for. So our buffers are not contiguous for it.
#pragma once

#include <cstdint>

#include "shim/datatypes/sized_types.h"

namespace millrace::shim {

inline constexpr std::int64_t split_gap_bytes = 64;
// Before the gap.
constexpr std::int64_t split_first_bytes(std::int64_t bytes) { return bytes / 2; }

// For packed messages of `bytes`, 2 .. 2^31-1; see SizedTypes::get().
HostType split_type(std::int64_t bytes) noexcept;
void forget_split_types();

}  // namespace millrace::shim
