// Gather of blocks that are larger than a cell: every rank but the root leaves its block in its next slot, says so in
// its cell, with how many bytes it is, and goes on; the root takes them from there.
#include <cstring>

#include "collective/algorithms.h"
#include "collective/blocks.h"
#include "collective/call_copies.h"

namespace millrace::collective {
namespace {

Result leave_block(Group& group, const Call& call, const Blocks& blocks, std::uint64_t number) {
  const std::uint32_t self = group.rank();
  if (const Result result = group.cell_free(call); result != Result::ok) return result;
  if (const Result result = group.slot_free(number); result != Result::ok) return result;
  const std::uint64_t phase = group.slot_phase(blocks.sent[0].row);
  leave(group, blocks.sent[0], 0, blocks.bytes, group.slot(self, number) + phase);
  std::memcpy(group.cell(self, call).data, &phase, sizeof phase);
  group.post_sized(call, blocks.bytes);
  group.publish(group.self().chunks_done.value, number + 1);
  return Result::ok;
}

Result take_blocks(Group& group, const Call& call, const Blocks& blocks, std::uint64_t number, bool& truncated) {
  for (std::uint32_t rank = 0; rank < group.ranks(); ++rank) {
    if (rank == group.rank()) continue;
    std::size_t bytes = 0;
    if (const Result result = group.receive_sized(rank, call, bytes); result != Result::ok) return result;
    if (bytes > group.shape().slot_bytes) return group.fail(Result::mismatch);
    const Data& to = blocks.received[rank];
    truncated = truncated || bytes > to.bytes;
    unpack(to, 0, std::min(bytes, to.bytes), group.slot(rank, number) + slot_phase_of(group.cell(rank, call)));
  }
  group.publish(group.self().chunks_done.value, number + 1);
  return Result::ok;
}

}  // namespace

Result gather_chunks(Group& group, const Call& call, const Blocks& blocks) {
  CallCopies copies(group, blocks.kind, call, blocks.bytes, blocks.bytes, false);
  const std::uint64_t number = group.take_chunks(1);
  const bool is_root = group.rank() == blocks.root;
  bool truncated = is_root && move_own(group, blocks);
  const Result result =
      is_root ? take_blocks(group, call, blocks, number, truncated) : leave_block(group, call, blocks, number);
  if (result != Result::ok) return result;
  copies.end();
  group.finish(call);
  return truncated ? Result::truncated : Result::ok;
}

}  // namespace millrace::collective
