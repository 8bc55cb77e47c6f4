// Bcast of any size: the root copies chunks into its ring of slots, the others copy them out, at the same time. How
// many bytes there are stands in the root's cell, as that the first chunk is there: one line, and in a row of calls
// each time another, so that who writes the next has not just had its line taken away.
#include <algorithm>

#include "collective/algorithms.h"
#include "collective/bcast_row.h"
#include "collective/call_copies.h"
#include "collective/chunking.h"

namespace millrace::collective {
namespace {

Chunking chunking_of(const Group& group, std::size_t bytes) {
  return {group, bytes, 1, bcast_chunk_bytes(group.selection(), group.ranks(), bytes)};
}

}  // namespace

Result send_chunks(Group& group, const Call& call, const void* buffer, std::size_t bytes, bool cell_is_used) {
  Member& self = group.self();
  const auto* const base = static_cast<const char*>(buffer);
  const std::size_t phase = group.slot_phase(buffer);
  const Chunking chunking = chunking_of(group, bytes);
  const std::uint64_t first = group.take_chunks(chunking.count);
  if (!cell_is_used)
    if (const Result result = group.cell_free(call); result != Result::ok) return result;
  for (std::uint64_t index = 0; index < chunking.count; ++index) {
    const std::uint64_t number = first + index;
    const Extent chunk = chunking.chunk(index);
    if (const Result result = group.slot_free(number); result != Result::ok) return result;
    group.leave(group.slot(group.rank(), number) + phase, base + chunk.begin, chunk.elements);
    if (index == 0 && !cell_is_used)
      post_head(group, call, {0, phase}, bytes);
    else
      group.publish(self.filled.value, number + 1);
  }
  group.publish(self.chunks_done.value, first + chunking.count);
  return Result::ok;
}

Result receive_chunks(Group& group, const BcastRow& row, std::uint32_t root, bool first_is_there) {
  Member& self = group.self();
  const std::atomic<std::uint64_t>& filled = group.member(root).filled.value;
  const Chunking chunking = chunking_of(group, row.bytes);
  const std::uint64_t first = group.take_chunks(chunking.count);
  for (std::uint64_t index = 0; index < chunking.count; ++index) {
    const std::uint64_t number = first + index;
    const Extent chunk = chunking.chunk(index);
    if (chunk.begin >= row.room) break;  // nothing of the rest is read here, however much the root says that it is
    if (index != 0 || !first_is_there)
      if (const Result result = group.wait(filled, number + 1); result != Result::ok) return result;
    group.copy(static_cast<char*>(row.buffer) + chunk.begin, group.slot(root, number) + row.phase,
               std::min(chunk.elements, row.room - chunk.begin));
    if (index + 1 != chunking.count) group.publish(self.chunks_done.value, number + 1);
  }
  group.publish(self.chunks_done.value, first + chunking.count);
  return Result::ok;
}

Result bcast_chunks(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root) {
  CallCopies copies(group, Kind::bcast, call, bytes, bytes, false);
  if (group.rank() == root) {
    if (const Result result = send_chunks(group, call, buffer, bytes, false); result != Result::ok) return result;
  } else {
    const std::size_t room = bytes;
    if (const Result result = group.receive_sized(root, call, bytes); result != Result::ok) return result;
    const BcastRow row{buffer, room, bytes, head_of(group, call, root).phase};
    if (const Result result = receive_chunks(group, row, root, true); result != Result::ok) return result;
  }
  copies.end();
  group.finish(call);
  return Result::ok;
}

}  // namespace millrace::collective
