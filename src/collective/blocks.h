// Blocks of equal bytes from everybody to everybody (exchange.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "collective/data.h"

namespace millrace::collective {

// Also of what another rank says that it sends: it may be wrong, and is waited for to the end.
inline constexpr std::size_t most_block_bytes = 0x7fffffff;

// One call of exchange_blocks(), as one rank has it.
struct Blocks {
  Kind kind;
  std::size_t bytes;  // of a block: what ranks chose the algorithm by
  std::span<const Data> sent, received;
  std::uint32_t root = 0;  // of Gather and Scatter

  const Data& sent_to(std::uint32_t rank) const { return sent.size() == 1 ? sent[0] : sent[rank]; }
};

// What this rank sends itself. Whether it is more than there is room for.
inline bool move_own(Group& group, const Blocks& blocks) {
  if (blocks.sent.empty() || blocks.received.empty()) return false;
  const Data& to = blocks.received.size() == 1 ? blocks.received[0] : blocks.received[group.rank()];
  if (!to.row && !to.move) return false;
  // Not a copy of it: to read with a wide load what was just stored in parts waits until all stores before are through,
  // and so for the lines that other ranks have.
  const Data& from = blocks.sent_to(group.rank());
  move_all(from, to, std::min(from.bytes, to.bytes), group.scratch(), group.scratch_bytes());
  return from.bytes > to.bytes;
}

}  // namespace millrace::collective
