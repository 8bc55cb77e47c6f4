// Bcast of up to a cell: the root fills its cell and goes on, as far as the ring reaches; the others read it there.
#include <algorithm>
#include "collective/algorithms.h"

namespace millrace::collective {

Result bcast_cells(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root) {
  if (group.rank() == root) {
    if (const Result result = group.cell_free(call, bytes); result != Result::ok) return result;
    group.copy(group.data(root, call, bytes), buffer, bytes);
    group.post_sized(call, bytes);
  } else {
    const std::size_t room = bytes;
    if (const Result result = group.receive_sized(root, call, bytes); result != Result::ok) return result;
    if (bytes == room) [[likely]] {  // known before it comes
      group.copy(buffer, group.data(root, call, room), room);
    } else {
      if (bytes > group.shape().cell_bytes) return group.fail(Result::mismatch);
      group.copy(buffer, group.data(root, call, bytes), std::min(bytes, room));
    }
  }
  group.finish(call);
  return Result::ok;
}

}  // namespace millrace::collective
