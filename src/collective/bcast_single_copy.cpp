// Bcast of large messages, where ranks may read each other's memory: the root says where its buffer lies, in its cell,
// and returns when all have read it there; a single one it helps (shared_row.h). If one could not, it goes to all
// through shared memory after all. Two ranks know that by themselves; of more, those that could have to be told. The
// root of two may also send chunks from the beginning, where those were faster of late (copy_choice.h).
#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "collective/algorithms.h"
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

Result by_one_copy(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::size_t room,
                   std::uint64_t address, std::uint32_t root) {
  bool unread = false;
  if (group.rank() != root) {
    const std::size_t wanted = std::min(bytes, room);
    const Result read = group.ranks() == 2
                            ? read_shared(group, root, row_serial_of_call(call.number), address, buffer, wanted)
                            : group.read_from(root, address, buffer, wanted);
    if (read != Result::ok && read != Result::not_supported) return read;
    unread = read == Result::not_supported;
    if (const Result result = reader_settles(group, call, root, unread); result != Result::ok) return result;
  } else {
    if (group.ranks() == 2)
      if (const Result result = help(group, call, buffer, bytes); result != Result::ok) return result;
    if (const Result result = root_settles(group, call, unread); result != Result::ok) return result;
  }
  if (!unread) return Result::ok;
  if (group.rank() != root) bytes = room;
  return bcast_chunks(group, call, buffer, bytes, root);
}

// What the other rank has said by now of what was sent.
void note_costs(Group& group, const Call& call) {
  for (CopyChoice::Sent& sent : group.copy_choice.sent) {
    if (sent.bytes == 0 || call.number - sent.call >= 128) continue;
    const std::uint64_t note =
        group.member(1 - group.rank()).bcast_costs[sent.call % 128].load(std::memory_order_relaxed);
    if (!CopyChoice::is_of(note, sent.call)) continue;
    group.copy_choice.add(sent.bytes, sent.copies, sent.own_ticks + CopyChoice::ticks_of(note));
    sent.bytes = 0;
  }
}

Result send(Group& group, const Call& call, void* buffer, std::size_t& bytes) {
  const bool chooses = group.ranks() == 2 && group.selection().bcast_root_chooses;
  const std::uint64_t begin = clock_ticks();
  if (chooses) note_costs(group, call);
  const Copies copies = chooses ? group.copy_choice.choose(bytes) : Copies::one;
  const auto address = copies == Copies::two ? 0 : static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(buffer));
  if (const Result result = group.cell_free(call); result != Result::ok) return result;
  std::memcpy(group.cell(group.rank(), call).data, &address, sizeof address);
  group.post_sized(call, bytes);
  const std::size_t sent_bytes = bytes;
  const Result result = copies == Copies::two ? bcast_chunks(group, call, buffer, bytes, group.rank())
                                              : by_one_copy(group, call, buffer, bytes, bytes, address, group.rank());
  if (chooses) group.copy_choice.remember({call.number, sent_bytes, clock_ticks() - begin, copies});
  return result;
}

Result receive(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root) {
  const std::size_t room = bytes;
  if (const Result result = group.receive_sized(root, call, bytes); result != Result::ok) return result;
  const std::uint64_t begin = clock_ticks();
  std::uint64_t address = 0;
  std::memcpy(&address, group.cell(root, call).data, sizeof address);
  Result result;
  if (address != 0) {
    result = by_one_copy(group, call, buffer, bytes, room, address, root);
  } else {
    bytes = room;
    result = bcast_chunks(group, call, buffer, bytes, root);
  }
  group.self().bcast_costs[call.number % 128].store(CopyChoice::note(call.number, clock_ticks() - begin),
                                                    std::memory_order_relaxed);
  return result;
}

}  // namespace

Result bcast_single_copy(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root) {
  return group.rank() == root ? send(group, call, buffer, bytes) : receive(group, call, buffer, bytes, root);
}

}  // namespace millrace::collective
