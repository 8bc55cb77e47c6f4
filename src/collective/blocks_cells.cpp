// Alltoall of small blocks: every rank puts its blocks for all into its cell, one behind the other, and takes its own
// out of everybody else's. The cell says how many bytes there are.
#include "collective/algorithms.h"
#include "collective/blocks.h"

namespace millrace::collective {

Result blocks_cells(Group& group, const Call& call, const Blocks& blocks) {
  const std::uint32_t ranks = group.ranks(), self = group.rank();
  if (const Result result = group.cell_free(call, blocks.bytes * ranks, self == 0 ? blocks.bytes : 0);
      result != Result::ok)
    return result;
  char* const cell = group.data(self, call, blocks.bytes * ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    if (rank != self) pack(blocks.sent_to(rank), 0, blocks.bytes, cell + rank * blocks.bytes);
  group.post_sized(call, blocks.bytes * ranks);
  bool truncated = move_own(group, blocks);
  for (std::uint32_t step = 1; step < ranks; ++step) {
    const std::uint32_t rank = group.before(step);
    std::size_t bytes = 0;
    if (const Result result = group.receive_sized(rank, call, bytes); result != Result::ok) return result;
    if (bytes > group.shape().cell_bytes) return group.fail(Result::mismatch);
    const std::size_t block = bytes / ranks;
    const Data& to = blocks.received[rank];
    truncated = truncated || block > to.bytes;
    unpack(to, 0, std::min(block, to.bytes), group.data(rank, call, bytes) + self * block);
  }
  group.finish(call);
  group.all_heard(call);
  return truncated ? Result::truncated : Result::ok;
}

}  // namespace millrace::collective
