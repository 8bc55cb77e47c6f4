// Bcast of large messages, where ranks may read each other's memory: the root says where its buffer lies, in its cell,
// and returns when all have read it there. If one could not, it goes to all through shared memory after all. Two ranks
// know that by themselves; of more, those that could have to be told.
#include <algorithm>
#include <cstring>

#include "collective/algorithms.h"

namespace millrace::collective {
namespace {

Result root_settles(Group& group, const Call& call, bool& unread) {
  group.finish(call);
  if (const Result result = group.all_finished(call); result != Result::ok) return result;
  for (std::uint32_t rank = 0; rank < group.ranks(); ++rank)  // stored before what all_finished() has seen
    unread = unread || group.member(rank).calls_done.note.load(std::memory_order_relaxed) == call.number + 1;
  if (group.ranks() > 2) group.publish(group.self().settled.value, (call.number + 1) * 2 + (unread ? 1 : 0));
  return Result::ok;
}

Result reader_settles(Group& group, const Call& call, std::uint32_t root, bool& unread) {
  if (unread) group.self().calls_done.note.store(call.number + 1, std::memory_order_relaxed);  // released by finish()
  group.finish(call);
  if (group.ranks() == 2) return Result::ok;
  const std::atomic<std::uint64_t>& settled = group.member(root).settled.value;
  if (const Result result = group.wait(settled, (call.number + 1) * 2); result != Result::ok) return result;
  // It stays so until this rank has taken part in another such call of that root.
  unread = settled.load(std::memory_order_acquire) % 2 != 0;
  return Result::ok;
}

}  // namespace

Result bcast_single_copy(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root) {
  const std::size_t room = bytes;
  bool unread = false;
  if (group.rank() != root) {
    if (const Result result = group.receive_sized(root, call, bytes); result != Result::ok) return result;
    std::uint64_t address = 0;
    std::memcpy(&address, group.cell(root, call).data, sizeof address);
    const Result read = group.read_from(root, address, buffer, std::min(bytes, room));
    if (read != Result::ok && read != Result::not_supported) return read;
    unread = read == Result::not_supported;
    if (const Result result = reader_settles(group, call, root, unread); result != Result::ok) return result;
  } else {
    if (const Result result = group.cell_free(call); result != Result::ok) return result;
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(buffer));
    std::memcpy(group.cell(root, call).data, &address, sizeof address);
    group.post_sized(call, bytes);
    if (const Result result = root_settles(group, call, unread); result != Result::ok) return result;
  }
  if (!unread) return Result::ok;
  if (group.rank() != root) bytes = room;
  return bcast_chunks(group, call, buffer, bytes, root);
}

}  // namespace millrace::collective
