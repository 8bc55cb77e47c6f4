// Reduce of any size among few ranks: every rank but the root copies chunks into its ring of slots, the root reduces
// them in rank order as they come. Of the first one the cell tells.
#include "collective/algorithms.h"
#include "collective/call_copies.h"
#include "collective/chunking.h"

namespace millrace::collective {
namespace {

Result send(Group& group, const Call& call, const Chunking& chunking, std::uint64_t first, const char* in) {
  if (const Result result = group.cell_free(call); result != Result::ok) return result;
  Member& self = group.self();
  for (std::uint64_t index = 0; index < chunking.count; ++index) {
    const std::uint64_t number = first + index;
    const Extent chunk = chunking.chunk(index);
    if (const Result result = group.slot_free(number); result != Result::ok) return result;
    group.leave(group.slot(group.rank(), number), in + chunk.begin * chunking.element_bytes,
                chunk.elements * chunking.element_bytes);
    if (index == 0)
      group.post(call);
    else
      group.publish(self.filled.value, number + 1);
    group.publish(self.chunks_done.value, number + 1);
  }
  return Result::ok;
}

}  // namespace

Result reduce_chunks(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                     const Reducer& reducer, std::uint32_t root) {
  const std::size_t bytes = elements * reducer.element_bytes;
  CallCopies copies(group, Kind::reduce, call, bytes, bytes, false);
  const Chunking chunking(group, elements, reducer.element_bytes, group.selection().reduce_chunk_bytes);
  const std::uint64_t first = group.take_chunks(chunking.count);
  if (group.rank() != root) {
    if (const Result result = send(group, call, chunking, first, static_cast<const char*>(in)); result != Result::ok)
      return result;
    copies.end();
    group.finish(call);
    return Result::ok;
  }
  // A kernel of two operands may write over one of them; everything else needs a copy of what `out` holds.
  const bool copy_own = in == out && !(group.ranks() == 2 && reducer.reduce3);
  for (std::uint64_t index = 0; index < chunking.count; ++index) {
    const std::uint64_t number = first + index;
    const Extent chunk = chunking.chunk(index);
    const std::size_t offset = chunk.begin * chunking.element_bytes;
    const void* own = static_cast<const char*>(in) + offset;
    if (copy_own) {
      if (const Result result = group.slot_free(number); result != Result::ok) return result;
      group.copy(group.slot(root, number), own, chunk.elements * chunking.element_bytes);
      own = group.slot(root, number);
    }
    const void** const inputs = group.inputs();
    for (std::uint32_t rank = 0; rank < group.ranks(); ++rank) {
      inputs[rank] = rank == root ? own : group.slot(rank, number);
      if (rank == root) continue;
      const Result result =
          index == 0 ? group.receive(rank, call) : group.wait(group.member(rank).filled.value, number + 1);
      if (result != Result::ok) return result;
    }
    fold(reducer, inputs, group.ranks(), static_cast<char*>(out) + offset, chunk.elements, group.scratch());
    group.publish(group.self().chunks_done.value, number + 1);
  }
  copies.end();
  group.finish(call);
  return Result::ok;
}

}  // namespace millrace::collective
