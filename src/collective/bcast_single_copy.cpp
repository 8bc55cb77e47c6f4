// Bcast of large messages, where ranks may read each other's memory: the root says where its buffer lies, in its cell,
// and returns when all have read it there; a single one it helps (shared_row.h). If one could not, it goes to all
// through shared memory after all. Two ranks know that by themselves; of more, those that could have to be told. The
// root may also send chunks from the beginning, where those were faster of late (call_copies.h).
#include <algorithm>
#include <cstring>

#include "collective/algorithms.h"
#include "collective/bcast_row.h"
#include "collective/call_copies.h"
#include "collective/shared_row.h"

namespace millrace::collective {
namespace {

// Copies with the other rank until that has all.
Result help(Group& group, const Call& call, const void* buffer, std::size_t bytes) {
  const std::uint32_t reader = 1 - group.rank();
  const std::atomic<std::uint64_t>& done = group.member(reader).calls_done.value;
  RowWriting writing;
  writing.begin(row_serial_of_call(call.number), buffer, bytes);
  return group.advance({&done, call.number + 1}, [&] {
    if (writing.help(group, reader)) return Group::Step::moved;
    // Partner: finish() in reader_settles().
    return done.load(std::memory_order_acquire) > call.number ? Group::Step::done : Group::Step::nothing;
  });
}

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

Result send(Group& group, const Call& call, const void* buffer, std::size_t bytes, bool is_one) {
  if (!is_one) {
    const Result result = send_chunks(group, call, buffer, bytes, false);
    if (result == Result::ok) group.finish(call);
    return result;
  }
  if (const Result result = group.cell_free(call); result != Result::ok) return result;
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(buffer));
  post_head(group, call, {address, group.slot_phase(buffer)}, bytes);
  if (group.ranks() == 2)
    if (const Result result = help(group, call, buffer, bytes); result != Result::ok) return result;
  bool unread = false;
  if (const Result result = root_settles(group, call, unread); result != Result::ok || !unread) return result;
  return send_chunks(group, call, buffer, bytes, true);
}

Result receive(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root) {
  const std::size_t room = bytes;
  if (const Result result = group.receive_sized(root, call, bytes); result != Result::ok) return result;
  const BcastHead head = head_of(group, call, root);
  const BcastRow row{buffer, room, bytes, head.phase};
  if (head.address == 0) {
    const Result result = receive_chunks(group, row, root, true);
    if (result == Result::ok) group.finish(call);
    return result;
  }
  const std::size_t wanted = std::min(bytes, room);
  const Result read = group.ranks() == 2
                          ? read_shared(group, root, row_serial_of_call(call.number), head.address, buffer, wanted)
                          : group.read_from(root, head.address, buffer, wanted);
  if (read != Result::ok && read != Result::not_supported) return read;
  bool unread = read == Result::not_supported;
  if (const Result result = reader_settles(group, call, root, unread); result != Result::ok || !unread) return result;
  return receive_chunks(group, row, root, false);
}

}  // namespace

Result bcast_single_copy(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root) {
  CallCopies copies(group, Kind::bcast, call, bytes, bytes, true);
  const Result result = group.rank() == root ? send(group, call, buffer, bytes, copies.are_one())
                                             : receive(group, call, buffer, bytes, root);
  if (result == Result::ok) copies.end();
  return result;
}

}  // namespace millrace::collective
