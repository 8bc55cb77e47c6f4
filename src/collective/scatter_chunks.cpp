// Scatter of blocks that are together larger than a cell: the root leaves those of all others in its next slot, one
// behind the other in the order of their ranks, and says so in its cell, with how many bytes they are together;
// everybody takes its own.
#include <cstring>

#include "collective/algorithms.h"
#include "collective/blocks.h"
#include "collective/call_copies.h"

namespace millrace::collective {
namespace {

// In a slot.
std::uint32_t place_of(std::uint32_t rank, std::uint32_t root) { return rank < root ? rank : rank - 1; }

Result leave_blocks(Group& group, const Call& call, const Blocks& blocks, std::uint64_t number) {
  const std::uint32_t self = group.rank(), others = group.ranks() - 1;
  if (const Result result = group.cell_free(call); result != Result::ok) return result;
  if (const Result result = group.slot_free(number); result != Result::ok) return result;
  const std::uint64_t phase = group.slot_phase(blocks.sent[self == 0 ? 1 : 0].row);
  char* const slot = group.slot(self, number) + phase;
  for (std::uint32_t rank = 0; rank <= others; ++rank)
    if (rank != self) leave(group, blocks.sent[rank], 0, blocks.bytes, slot + place_of(rank, self) * blocks.bytes);
  std::memcpy(group.cell(self, call).data, &phase, sizeof phase);
  group.post_sized(call, blocks.bytes * others);
  return Result::ok;
}

Result take_block(Group& group, const Call& call, const Blocks& blocks, std::uint64_t number, bool& truncated) {
  const std::uint32_t root = blocks.root, others = group.ranks() - 1;
  std::size_t bytes = 0;
  if (const Result result = group.receive_sized(root, call, bytes); result != Result::ok) return result;
  if (bytes > group.shape().slot_bytes) return group.fail(Result::mismatch);
  const std::size_t block = bytes / others;
  const Data& to = blocks.received[0];
  truncated = block > to.bytes;
  unpack(to, 0, std::min(block, to.bytes),
         group.slot(root, number) + slot_phase_of(group.cell(root, call)) + place_of(group.rank(), root) * block);
  return Result::ok;
}

}  // namespace

Result scatter_chunks(Group& group, const Call& call, const Blocks& blocks) {
  CallCopies copies(group, blocks.kind, call, blocks.bytes, blocks.bytes, false);
  const std::uint64_t number = group.take_chunks(1);
  bool truncated = false;
  const Result result = group.rank() == blocks.root ? leave_blocks(group, call, blocks, number)
                                                    : take_block(group, call, blocks, number, truncated);
  if (result != Result::ok) return result;
  group.publish(group.self().chunks_done.value, number + 1);
  if (group.rank() == blocks.root) truncated = move_own(group, blocks);
  copies.end();
  group.finish(call);
  return truncated ? Result::truncated : Result::ok;
}

}  // namespace millrace::collective
