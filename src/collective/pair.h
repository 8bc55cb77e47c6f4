// How two ranks meet. A line that one core wrote and another reads must cross between them, and before it can be
// written again its copies must be taken back: two crossings for a flag that always has the same writer. Two ranks can
// do better:
//
//   - flags of both in one line (PairLine): who comes to write finds the other's flag there;
//   - buffers that change hands: each rank writes the buffer that it read the time before, whose lines it has.
//
//     exchange    0        1        2
//     buffer A   0 -> 1   1 -> 0   0 -> 1       writer -> reader
//     buffer B   1 -> 0   0 -> 1   1 -> 0
//
//   A writer has read what it overwrites, so nothing else needs to be awaited.
#pragma once

#include "collective/algorithms.h"

namespace millrace::collective {

// Both ranks pass here; each finds up to pair_line_bytes of the other in `other`. `bytes` may be 0.
Result meet(Group& group, const Call& call, const void* own, void* other, std::size_t bytes);

}  // namespace millrace::collective
