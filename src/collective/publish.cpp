// What every rank tells all others (MPI_Allgather(v)). Each says in its cell how many bytes it has, and
//   up to a cell       they are there, and everybody reads them
//   larger             then each fills its ring of slots, chunk by chunk, all at the same time; chunk i of all has one
//                      number
//   larger, in a row   where memory may be read: the cell says where it lies, and all return when all have read it
#include <algorithm>
#include <cstring>

#include "collective/across/across.h"
#include "collective/call_copies.h"
#include "collective/data.h"
#include "collective/exchange_label.h"

namespace millrace::collective {
namespace {

// Of two ranks, for which it was measured, larger ones of long messages: each takes a flag each way.
constexpr std::size_t chunk_bytes = 32 << 10, long_chunk_bytes = 64 << 10, long_from_bytes = 256 << 10;

std::size_t chunk_of(const Group& group, std::size_t most_bytes) {
  const std::size_t wanted = group.ranks() == 2 && most_bytes >= long_from_bytes ? long_chunk_bytes : chunk_bytes;
  return std::min<std::size_t>(wanted, group.shape().slot_bytes);
}

// What a cell says of a message that is larger.
struct Large {
  std::uint64_t phase;  // slot_phase_of()
  const void* row;      // where others may read it, or null
};

// Whether more is sent than expected.
bool copy_own(Group& group, const Data& own, const Data& to) {
  if (to.row || to.move) move_all(own, to, std::min(own.bytes, to.bytes), group.scratch(), group.scratch_bytes());
  return own.bytes > to.bytes;
}

// What this rank learned of the others in a call, and of itself.
struct Published {
  std::size_t large_bytes = 0;  // of the largest that is more than a cell
  bool rows = false;            // some are read where they lie: inputs()[rank]; sizes() has the bytes of all
  bool truncated = false;
};

std::uint32_t least_row(const Group& group) {
  const Selection& selection = group.selection();
  return group.crowded() ? selection.publish_single_copy_crowded_bytes : selection.publish_single_copy_bytes;
}

// Of the others' messages, as it expects them, and this rank's own.
std::size_t largest(const Data& own, std::span<const Data> receives) {
  std::size_t largest_bytes = own.bytes;
  for (const Data& data : receives) largest_bytes = std::max(largest_bytes, data.bytes);
  return largest_bytes;
}

// The address of a row that others shall read, or null.
const void* offered_row(const Group& group, const Data& own, const CallCopies& copies) {
  const bool direct = copies.are_one() && group.reads_memory() && at_least(own.bytes, least_row(group));
  return direct ? own.row : nullptr;
}

// Everybody's cell: how many bytes, and these, or where they lie. So all know what all send, whatever they expect.
Result meet_in_cells(Group& group, const Call& call, const Data& own, std::span<const Data> receives,
                     const CallCopies& copies, Published& published) {
  // From here on only these notes count: what stands in a cell may change.
  const auto note_large = [&](std::uint32_t rank, std::size_t bytes, const void* from) {
    group.inputs()[rank] = from;
    published.rows = published.rows || group.inputs()[rank];
    published.large_bytes = std::max(published.large_bytes, bytes);
  };
  const std::size_t cell_bytes = group.shape().cell_bytes;
  if (own.bytes > Group::most_sized_bytes) return group.fail(Result::rank_failed);
  if (const Result result = group.cell_free(call, own.bytes <= cell_bytes ? own.bytes : 0); result != Result::ok)
    return result;
  group.sizes()[group.rank()] = own.bytes;
  if (own.bytes <= cell_bytes) {
    pack(own, 0, own.bytes, group.data(group.rank(), call, own.bytes));
  } else {
    const Large large{group.slot_phase(own.row), offered_row(group, own, copies)};
    std::memcpy(group.cell(group.rank(), call).data, &large, sizeof large);
    note_large(group.rank(), own.bytes, large.row);
  }
  group.post_sized(call, own.bytes);
  published.truncated = copy_own(group, own, receives[group.rank()]);
  for (std::uint32_t step = 1; step < group.ranks(); ++step) {
    const std::uint32_t rank = group.before(step);
    std::size_t bytes = 0;
    if (const Result result = group.receive_sized(rank, call, bytes); result != Result::ok) return result;
    group.sizes()[rank] = bytes;
    const Data& to = receives[rank];
    published.truncated = published.truncated || bytes > to.bytes;
    if (bytes <= cell_bytes) {
      unpack(to, 0, std::min(bytes, to.bytes), group.data(rank, call, bytes));
    } else {
      Large large{};
      std::memcpy(&large, group.cell(rank, call).data, sizeof large);
      note_large(rank, bytes, large.row);
    }
  }
  return Result::ok;
}

struct ChunkPart {
  std::size_t first, length;
};
ChunkPart part_of(std::size_t bytes, std::uint64_t index, std::size_t chunk) {
  const std::size_t first = std::min<std::size_t>(bytes, index * chunk);
  return {first, std::min(chunk, bytes - first)};
}

// The bytes of `rank` that go through its slots.
std::size_t chunked_bytes(const Group& group, std::uint32_t rank) {
  const std::size_t bytes = group.sizes()[rank];
  return bytes <= group.shape().cell_bytes || group.inputs()[rank] ? 0 : bytes;
}

// Where chunk `number` of a rank's large message lies. Its cell stays as it is until all have finished the call.
char* chunk_place(const Group& group, const Call& call, std::uint32_t rank, std::uint64_t number) {
  return group.slot(rank, number) + slot_phase_of(group.cell(rank, call));
}

// Chunk `index` of this rank into its slot.
Result fill(Group& group, const Call& call, const Data& own, std::uint64_t first, std::uint64_t index,
            std::size_t chunk) {
  const ChunkPart part = part_of(chunked_bytes(group, group.rank()), index, chunk);
  if (part.length == 0) return Result::ok;
  if (const Result result = group.slot_free(first + index); result != Result::ok) return result;
  leave(group, own, part.first, part.length, chunk_place(group, call, group.rank(), first + index));
  group.publish(group.self().filled.value, first + index + 1);
  return Result::ok;
}

Result publish_chunks(Group& group, const Call& call, const Data& own, std::span<const Data> receives,
                      std::size_t most_bytes) {
  const std::size_t chunk = chunk_of(group, most_bytes);
  const std::uint64_t first = group.take_chunks((most_bytes + chunk - 1) / chunk);
  // Own ones, and what is wanted of the others', however much they say that it is.
  std::size_t used_bytes = chunked_bytes(group, group.rank());
  for (std::uint32_t step = 1; step < group.ranks(); ++step) {
    const std::uint32_t rank = group.before(step);
    used_bytes = std::max(used_bytes, std::min(chunked_bytes(group, rank), receives[rank].bytes));
  }
  const std::uint64_t count = (used_bytes + chunk - 1) / chunk;
  Result result = fill(group, call, own, first, 0, chunk);
  for (std::uint64_t index = 0; index < count && result == Result::ok; ++index) {
    if (index + 1 < count) result = fill(group, call, own, first, index + 1, chunk);
    for (std::uint32_t step = 1; step < group.ranks() && result == Result::ok; ++step) {
      const std::uint32_t rank = group.before(step);
      const ChunkPart wanted = part_of(std::min(chunked_bytes(group, rank), receives[rank].bytes), index, chunk);
      if (wanted.length == 0) continue;
      result = group.wait(group.member(rank).filled.value, first + index + 1);
      if (result == Result::ok)
        unpack(receives[rank], wanted.first, wanted.length, chunk_place(group, call, rank, first + index));
    }
    if (result == Result::ok) group.publish(group.self().chunks_done.value, first + index + 1);
  }
  if (result == Result::ok) group.publish(group.self().chunks_done.value, first + (most_bytes + chunk - 1) / chunk);
  return result;
}

// not_supported: some could not be read.
Result read_rows(Group& group, std::span<const Data> receives) {
  Result all = Result::ok;
  for (std::uint32_t step = 1; step < group.ranks(); ++step) {
    const std::uint32_t rank = group.before(step);
    const std::size_t bytes = group.sizes()[rank];
    if (bytes <= group.shape().cell_bytes || !group.inputs()[rank]) continue;
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(group.inputs()[rank]));
    const Result result = read_part(group, rank, address, receives[rank], 0, std::min(bytes, receives[rank].bytes));
    if (result == Result::not_supported)
      all = result;
    else if (result != Result::ok)
      return result;
  }
  return all;
}

// Reads the rows, and returns when all have read them. What one rank could not read comes to all in chunks: only so do
// chunks keep their numbers.
Result share_rows(Group& group, const Call& call, const Data& own, std::span<const Data> receives,
                  std::size_t most_bytes) {
  const Result read = read_rows(group, receives);
  if (read != Result::ok && read != Result::not_supported) return read;
  // Released by finish(). No rank stores its next note before all have entered a later call, and so looked at this one.
  if (read == Result::not_supported) group.self().calls_done.note.store(call.number + 1, std::memory_order_relaxed);
  group.finish(call);
  if (const Result result = group.all_finished(call); result != Result::ok) return result;
  bool unread = false;
  for (std::uint32_t rank = 0; rank < group.ranks(); ++rank)
    unread = unread || group.member(rank).calls_done.note.load(std::memory_order_relaxed) == call.number + 1;
  if (!unread) return Result::ok;
  std::fill_n(group.inputs(), group.ranks(), nullptr);
  return publish_chunks(group, call, own, receives, most_bytes);
}

}  // namespace

Result publish(Group& group, Kind kind, std::uint64_t label, const Data& own, std::span<const Data> receives,
               std::size_t block_bytes) {
  if (receives.size() != group.ranks()) return Result::not_supported;
  if (Across* const across = group.enter_across())
    return kind == Kind::allgather ? across->publish(own, receives) : Result::not_supported;
  Call call;
  if (const Result result = enter_labelled(group, kind, ~label, call); result != Result::ok) return result;
  Published published;
  if (group.ranks() == 1) {
    published.truncated = copy_own(group, own, receives[0]);
    group.finish(call);
    return published.truncated ? Result::truncated : Result::ok;
  }
  CallCopies copies(group, kind, call, block_bytes, largest(own, receives),
                    block_bytes == 0 || at_least(block_bytes, least_row(group)));
  Result result = meet_in_cells(group, call, own, receives, copies, published);
  if (result == Result::ok && published.large_bytes != 0) {
    result = publish_chunks(group, call, own, receives, published.large_bytes);
    if (result == Result::ok && published.rows) result = share_rows(group, call, own, receives, published.large_bytes);
  }
  if (result != Result::ok) return result;
  copies.end();
  group.finish(call);
  group.all_heard(call);
  return published.truncated ? Result::truncated : Result::ok;
}

}  // namespace millrace::collective
