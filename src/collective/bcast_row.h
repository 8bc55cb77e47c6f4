// A large Bcast, as its root's cell tells of it, and by chunks: what bcast_chunks and bcast_single_copy share.
#pragma once

#include <cstring>

#include "collective/group.h"

namespace millrace::collective {

// In the root's cell, beside how many bytes it sends. Nothing of it is believed but where it is checked.
struct BcastHead {
  std::uint64_t address = 0;  // where the root's buffer may be read; 0: the first chunk is in its slot
  std::uint64_t phase = 0;    // where in a line chunks begin: line_phase()
};

inline void post_head(Group& group, const Call& call, const BcastHead& head, std::size_t bytes) {
  std::memcpy(group.cell(group.rank(), call).data, &head, sizeof head);
  group.post_sized(call, bytes);
}

// After receive_sized().
inline BcastHead head_of(Group& group, const Call& call, std::uint32_t root) {
  BcastHead head;
  std::memcpy(&head, group.cell(root, call).data, sizeof head);
  head.phase %= line_bytes;
  return head;
}

// The root sends `bytes` >= 1. It tells of the first chunk in its cell, unless that has told something else in this
// call: then as of the others.
Result send_chunks(Group& group, const Call& call, const void* buffer, std::size_t bytes, bool cell_is_used);

// Another rank takes `bytes`, of which it has room for `room`.
struct BcastRow {
  void* buffer;
  std::size_t room, bytes, phase;
};
Result receive_chunks(Group& group, const BcastRow& row, std::uint32_t root, bool first_is_there);

}  // namespace millrace::collective
