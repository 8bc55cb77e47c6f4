// Reduce of any size among many ranks: every rank reduces its slice of every chunk (slices.h), the root copies them
// out.
#include "collective/call_copies.h"
#include "collective/slices.h"

namespace millrace::collective {

Result reduce_slices(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                     const Reducer& reducer, std::uint32_t root) {
  const std::size_t bytes = elements * reducer.element_bytes;
  CallCopies copies(group, Kind::reduce, call, bytes, bytes, false);
  Slices slices(group, call, in, out, elements, reducer, group.selection().reduce_chunk_bytes);
  const std::uint64_t count = slices.count();
  const bool at_root = group.rank() == root;
  std::atomic<std::uint64_t>& done = group.self().chunks_done.value;
  Result result = slices.fill(0);
  for (std::uint64_t index = 0; index < count && result == Result::ok; ++index) {
    if (index + 1 < count) result = slices.fill(index + 1);
    if (result == Result::ok) result = slices.reduce(index);
    if (result != Result::ok) break;
    // The others have read what they reduce; what they reduced is for the root to read, and is theirs until it has.
    if (!at_root) {
      group.publish(done, slices.first() + index + 1);
    } else if (index != 0) {
      result = slices.copy_out(index - 1);
      group.publish(done, slices.first() + index);
    }
  }
  if (result == Result::ok && at_root) {
    result = slices.copy_out(count - 1);
    group.publish(done, slices.first() + count);
  }
  if (result != Result::ok) return result;
  copies.end();
  group.finish(call);
  return Result::ok;
}

}  // namespace millrace::collective
