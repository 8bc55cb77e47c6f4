// Scatter of small blocks: the root puts those of all others into its cell, one behind the other in the order of their
// ranks, with how many bytes they are together, and goes on; everybody takes its own.
#include "collective/algorithms.h"
#include "collective/blocks.h"

namespace millrace::collective {

Result scatter_cells(Group& group, const Call& call, const Blocks& blocks) {
  const std::uint32_t ranks = group.ranks(), self = group.rank(), root = blocks.root, others = ranks - 1;
  const auto place = [root](std::uint32_t rank) { return rank < root ? rank : rank - 1; };
  bool truncated = false;
  if (self == root) {
    if (const Result result = group.cell_free(call, blocks.bytes * others); result != Result::ok) return result;
    char* const cell = group.data(self, call, blocks.bytes * others);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      if (rank != self) pack(blocks.sent[rank], 0, blocks.bytes, cell + place(rank) * blocks.bytes);
    group.post_sized(call, blocks.bytes * others);
    truncated = move_own(group, blocks);
  } else {
    std::size_t bytes = 0;
    if (const Result result = group.receive_sized(root, call, bytes); result != Result::ok) return result;
    const Data& to = blocks.received[0];
    const std::size_t expected = blocks.bytes * others;
    if (bytes == expected && blocks.bytes == to.bytes) [[likely]] {  // known before it comes
      unpack(to, 0, to.bytes, group.data(root, call, expected) + place(self) * blocks.bytes);
    } else {
      if (bytes > group.shape().cell_bytes) return group.fail(Result::mismatch);
      const std::size_t block = bytes / others;
      truncated = block > to.bytes;
      unpack(to, 0, std::min(block, to.bytes), group.data(root, call, bytes) + place(self) * block);
    }
  }
  group.finish(call);
  return truncated ? Result::truncated : Result::ok;
}

}  // namespace millrace::collective
