// Allreduce of any size: every rank reduces its slice of every chunk (slices.h) and copies all slices out, the filling
// of the next chunk and the copying of the last one between them, so that nobody waits for a peer that is as fast.
#include "collective/call_copies.h"
#include "collective/slices.h"

namespace millrace::collective {

Result allreduce_slices(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                        const Reducer& reducer) {
  const std::size_t bytes = elements * reducer.element_bytes;
  CallCopies copies(group, Kind::allreduce, call, bytes, bytes, false);
  Slices slices(group, call, in, out, elements, reducer, group.selection().allreduce_chunk_bytes);
  const std::uint64_t count = slices.count();
  const std::uint32_t slots = group.shape().slots;
  Result result = slices.fill(0);
  for (std::uint64_t index = 0; index < count && result == Result::ok; ++index) {
    if (index + 1 < count) result = slices.fill(index + 1);
    if (result == Result::ok) result = slices.reduce(index);
    if (result != Result::ok || index == 0) continue;
    result = slices.copy_out(index - 1);
    // All have filled their slots for chunk index - 1, whatever they have to reduce of it, and before that have copied
    // out chunk index - 4.
    if (index >= 3) group.chunks_free_below(slices.first() + index - 3 + slots);
  }
  if (result == Result::ok) result = slices.copy_out(count - 1);
  if (result != Result::ok) return result;
  if (count >= 3) group.chunks_free_below(slices.first() + count - 3 + slots);
  group.publish(group.self().chunks_done.value, slices.first() + count);
  copies.end();
  group.all_heard(call);
  return Result::ok;
}

}  // namespace millrace::collective
