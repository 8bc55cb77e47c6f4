// Gather of small blocks: every rank but the root puts its block into its cell, with how many bytes it is, and goes on;
// the root takes them from there.
#include "collective/algorithms.h"
#include "collective/blocks.h"

namespace millrace::collective {
namespace {

constexpr std::size_t short_block_bytes = 1024;

}  // namespace

Result gather_cells(Group& group, const Call& call, const Blocks& blocks) {
  const std::uint32_t ranks = group.ranks(), self = group.rank();
  if (self != blocks.root) {
    if (const Result result = group.cell_free(call, blocks.bytes); result != Result::ok) return result;
    pack(blocks.sent[0], 0, blocks.bytes, group.data(self, call, blocks.bytes));
    group.post_sized(call, blocks.bytes);
    group.finish(call);
    return Result::ok;
  }
  // A short block last: the processor then asks for the lines of the next call while it waits for those of this one,
  // which takes a third of the time off a row of calls. A long one while the others may still be on their way.
  const bool first = blocks.bytes > short_block_bytes;
  bool truncated = first && move_own(group, blocks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (rank == self) continue;
    std::size_t bytes = 0;
    if (const Result result = group.receive_sized(rank, call, bytes); result != Result::ok) return result;
    const Data& to = blocks.received[rank];
    // What this rank knows itself it need not wait for.
    if (bytes == blocks.bytes && bytes == to.bytes) [[likely]] {
      unpack(to, 0, to.bytes, group.data(rank, call, blocks.bytes));
      continue;
    }
    if (bytes > group.shape().cell_bytes) return group.fail(Result::mismatch);
    truncated = truncated || bytes > to.bytes;
    unpack(to, 0, std::min(bytes, to.bytes), group.data(rank, call, bytes));
  }
  if (!first) truncated = move_own(group, blocks) || truncated;
  group.finish(call);
  return truncated ? Result::truncated : Result::ok;
}

}  // namespace millrace::collective
