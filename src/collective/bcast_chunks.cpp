// Bcast of any size: the root copies chunks into its ring of slots, the others copy them out, at the same time.
#include <algorithm>

#include "collective/algorithms.h"
#include "collective/call_copies.h"
#include "collective/chunking.h"

namespace millrace::collective {
namespace {

constexpr unsigned phase_shift = 48;
static_assert(Group::most_sized_bytes >> phase_shift == 0);

}  // namespace

Result bcast_chunks(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root) {
  CallCopies copies(group, Kind::bcast, call, bytes, bytes, false);
  const Result result = bcast_through_chunks(group, call, buffer, bytes, root);
  if (result != Result::ok) return result;
  copies.end();
  group.finish(call);
  return Result::ok;
}

Result bcast_through_chunks(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root) {
  const std::size_t room = bytes;
  Member& self = group.self();
  const std::uint64_t first = group.take_chunks(0);
  std::atomic<std::uint64_t>& sent_bytes = group.member(root).bcast_bytes[call.number % 128];
  std::size_t phase = group.slot_phase(buffer);
  if (group.rank() == root) {
    sent_bytes.store(bytes | phase << phase_shift, std::memory_order_relaxed);  // released with the first chunk
  } else {
    Result result = group.wait(group.member(root).filled.value, first + 1);
    if (result == Result::ok) result = group.same_call(root, call);
    if (result != Result::ok) return result;
    const std::uint64_t sent = sent_bytes.load(std::memory_order_relaxed);
    bytes = sent & ((std::uint64_t{1} << phase_shift) - 1);
    phase = sent >> phase_shift;
    if (bytes > Group::most_sized_bytes || phase >= line_bytes) return group.fail(Result::mismatch);
  }
  const Chunking chunking(group, bytes, 1, bcast_chunk_bytes(group.selection(), group.ranks(), bytes));
  group.take_chunks(chunking.count);
  char* const base = static_cast<char*>(buffer);
  for (std::uint64_t index = 0; index < chunking.count; ++index) {
    const std::uint64_t number = first + index;
    const Extent chunk = chunking.chunk(index);
    if (group.rank() == root) {
      if (const Result result = group.slot_free(number); result != Result::ok) return result;
      group.leave(group.slot(root, number) + phase, base + chunk.begin, chunk.elements);
      group.publish(self.filled.value, number + 1);
    } else {
      if (chunk.begin >= room) break;  // nothing of the rest is read here, however much the root says that it is
      if (const Result result = group.wait(group.member(root).filled.value, number + 1); result != Result::ok)
        return result;
      group.copy(base + chunk.begin, group.slot(root, number) + phase, std::min(chunk.elements, room - chunk.begin));
      group.publish(self.chunks_done.value, number + 1);
    }
  }
  group.publish(self.chunks_done.value, first + chunking.count);
  return Result::ok;
}

}  // namespace millrace::collective
