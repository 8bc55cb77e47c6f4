// What every rank tells all others (MPI_Allgather(v)). All know all sizes, so all do the same:
//   up to a cell       each fills its cell, and reads everybody's
//   larger             each fills its ring of slots, chunk by chunk, all at the same time; chunk i of all has one
//   number larger, in a row   where memory may be read: each says in its cell where it lies, and returns when all have
//   read it
#include <algorithm>
#include <cstring>

#include "collective/data.h"
#include "collective/exchange_label.h"

namespace millrace::collective {
namespace {

constexpr std::size_t chunk_bytes = 32 << 10;

// The others from rank - 1 downwards, so that not all turn to the same one at once.
std::uint32_t neighbor(const Group& group, std::uint32_t step) {
  return group.rank() >= step ? group.rank() - step : group.rank() + group.ranks() - step;
}

void copy_own(Group& group, const Data& own, const Data& to) {
  if (to.row || to.move) move_all(own, to, group.scratch(), group.scratch_bytes());
}

Result publish_cells(Group& group, const Call& call, const Data& own, std::span<const Data> receives) {
  if (const Result result = group.cell_free(call); result != Result::ok) return result;
  pack(own, 0, own.bytes, group.data(group.rank(), call, own.bytes));
  group.post(call);
  copy_own(group, own, receives[group.rank()]);
  for (std::uint32_t step = 1; step < group.ranks(); ++step) {
    const std::uint32_t rank = neighbor(group, step);
    if (const Result result = group.receive(rank, call); result != Result::ok) return result;
    unpack(receives[rank], 0, receives[rank].bytes, group.data(rank, call, receives[rank].bytes));
  }
  group.finish(call);
  group.all_heard(call);
  return Result::ok;
}

// Tells where the own row lies, if the others shall read it there, and learns of theirs: inputs()[rank], or null.
Result tell_addresses(Group& group, const Call& call, const Data& own) {
  if (const Result result = group.cell_free(call); result != Result::ok) return result;
  const bool direct =
      own.row && group.reads_memory() && at_least(own.bytes, group.selection().publish_single_copy_bytes);
  const void* const row = direct ? own.row : nullptr;
  std::memcpy(group.cell(group.rank(), call).data, &row, sizeof row);
  group.post(call);
  group.inputs()[group.rank()] = row;
  for (std::uint32_t step = 1; step < group.ranks(); ++step) {
    const std::uint32_t rank = neighbor(group, step);
    if (const Result result = group.receive(rank, call); result != Result::ok) return result;
    std::memcpy(&group.inputs()[rank], group.cell(rank, call).data, sizeof row);
  }
  return Result::ok;
}

struct Part {
  std::size_t first, length;
};
Part part_of(std::size_t bytes, std::uint64_t index, std::size_t chunk) {
  const std::size_t first = std::min<std::size_t>(bytes, index * chunk);
  return {first, std::min(chunk, bytes - first)};
}

// Chunk `index` of this rank into its slot.
Result fill(Group& group, const Data& own, std::uint64_t first, std::uint64_t index, std::size_t chunk) {
  if (group.inputs()[group.rank()]) return Result::ok;
  const Part part = part_of(own.bytes, index, chunk);
  if (part.length == 0) return Result::ok;
  if (const Result result = group.slot_free(first + index); result != Result::ok) return result;
  pack(own, part.first, part.length, group.slot(group.rank(), first + index));
  group.publish(group.self().filled.value, first + index + 1);
  return Result::ok;
}

Result publish_chunks(Group& group, const Data& own, std::span<const Data> receives, std::size_t most_bytes) {
  const std::size_t chunk = std::min<std::size_t>(chunk_bytes, group.shape().slot_bytes);
  const std::uint64_t first = group.take_chunks((most_bytes + chunk - 1) / chunk);
  std::size_t most_chunked_bytes = 0;
  for (std::uint32_t rank = 0; rank < group.ranks(); ++rank)
    if (!group.inputs()[rank]) most_chunked_bytes = std::max(most_chunked_bytes, receives[rank].bytes);
  const std::uint64_t count = (most_chunked_bytes + chunk - 1) / chunk;
  Result result = fill(group, own, first, 0, chunk);
  copy_own(group, own, receives[group.rank()]);
  for (std::uint64_t index = 0; index < count && result == Result::ok; ++index) {
    if (index + 1 < count) result = fill(group, own, first, index + 1, chunk);
    for (std::uint32_t step = 1; step < group.ranks() && result == Result::ok; ++step) {
      const std::uint32_t rank = neighbor(group, step);
      const Part part = part_of(receives[rank].bytes, index, chunk);
      if (part.length == 0 || group.inputs()[rank]) continue;
      result = group.wait(group.member(rank).filled.value, first + index + 1);
      if (result == Result::ok) unpack(receives[rank], part.first, part.length, group.slot(rank, first + index));
    }
    if (result == Result::ok) group.publish(group.self().chunks_done.value, first + index + 1);
  }
  if (result == Result::ok) group.publish(group.self().chunks_done.value, first + (most_bytes + chunk - 1) / chunk);
  return result;
}

Result read_rows(Group& group, std::span<const Data> receives) {
  for (std::uint32_t step = 1; step < group.ranks(); ++step) {
    const std::uint32_t rank = neighbor(group, step);
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(group.inputs()[rank]));
    if (address == 0) continue;
    const Result result = read_part(group, rank, address, receives[rank], 0, receives[rank].bytes);
    if (result != Result::ok) return result;
  }
  return Result::ok;
}

Result publish_large(Group& group, const Call& call, const Data& own, std::span<const Data> receives,
                     std::size_t most_bytes) {
  Result result = tell_addresses(group, call, own);
  if (result == Result::ok) result = publish_chunks(group, own, receives, most_bytes);
  if (result == Result::ok) result = read_rows(group, receives);
  if (result != Result::ok) return result;
  group.finish(call);
  return group.inputs()[group.rank()] ? group.all_finished(call) : Result::ok;
}

}  // namespace

Result publish(Group& group, Kind kind, std::uint64_t label, const Data& own, std::span<const Data> receives) {
  if (receives.size() != group.ranks()) return Result::not_supported;
  std::uint64_t sizes = ~label;
  std::size_t most_bytes = 0;
  for (const Data& data : receives) {
    sizes = (sizes ^ data.bytes) * 0x9e3779b97f4a7c15u;
    most_bytes = std::max(most_bytes, data.bytes);
  }
  Call call;
  if (const Result result = enter_labelled(group, kind, sizes, call); result != Result::ok) return result;
  if (own.bytes != receives[group.rank()].bytes) return group.fail(Result::mismatch);
  if (group.ranks() == 1) {
    copy_own(group, own, receives[0]);
    group.finish(call);
    return Result::ok;
  }
  if (most_bytes <= group.shape().cell_bytes) return publish_cells(group, call, own, receives);
  return publish_large(group, call, own, receives, most_bytes);
}

}  // namespace millrace::collective
