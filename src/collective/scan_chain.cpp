// Scan and Exscan of any size: chunk by chunk each rank reduces its elements with what the rank before it left in its
// slot, leaves the result in its own for the next one, and goes on with the next chunk. Of the first one the cell
// tells.
#include "collective/algorithms.h"
#include "collective/call_copies.h"
#include "collective/chunking.h"

namespace millrace::collective {
namespace {

// What rank > 0 gets of a chunk. `inputs`: what the ranks before it came to, and its own, which may be `out`; `left`:
// what it has left for the next one, null on the last rank.
void take(Group& group, const Reducer& reducer, const void* const* inputs, char* out, const char* left,
          std::size_t elements, bool inclusive) {
  const std::size_t bytes = elements * reducer.element_bytes;
  if (!inclusive)
    kernel::copy_row(out, inputs[0], bytes);
  else if (left)
    kernel::copy_row(out, left, bytes);
  else
    fold(reducer, inputs, 2, out, elements, group.scratch());
}

}  // namespace

Result scan_chain(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                  const Reducer& reducer, bool inclusive) {
  const std::size_t all_bytes = elements * reducer.element_bytes;
  CallCopies copies(group, inclusive ? Kind::scan : Kind::exscan, call, all_bytes, all_bytes, false);
  const Chunking chunking(group, elements, reducer.element_bytes, group.selection().scan_chunk_bytes);
  const std::uint64_t first = group.take_chunks(chunking.count);
  const std::uint32_t self = group.rank();
  const bool is_last = self + 1 == group.ranks();
  for (std::uint64_t index = 0; index < chunking.count; ++index) {
    const std::uint64_t number = first + index;
    const Extent chunk = chunking.chunk(index);
    const std::size_t offset = chunk.begin * reducer.element_bytes, bytes = chunk.elements * reducer.element_bytes;
    const char* const own = static_cast<const char*>(in) + offset;
    char* const to = out ? static_cast<char*>(out) + offset : nullptr;
    char* const left = is_last ? nullptr : group.slot(self, number);
    Result result = is_last ? Result::ok : group.slot_free(number);
    if (result == Result::ok && index == 0 && !is_last) result = group.cell_free(call);
    if (result == Result::ok && self != 0)
      result = index == 0 ? group.receive(self - 1, call) : group.wait(group.member(self - 1).filled.value, number + 1);
    if (result != Result::ok) return result;
    // First what the next rank waits for.
    const void* const inputs[] = {self == 0 ? nullptr : group.slot(self - 1, number), own};
    if (left && self == 0)
      group.leave(left, own, bytes);
    else if (left)
      fold(reducer, inputs, 2, left, chunk.elements, group.scratch());
    if (is_last) {
      // nobody waits for it
    } else if (index == 0) {
      group.post(call);
    } else {
      group.publish(group.self().filled.value, number + 1);
    }
    if (self != 0)
      take(group, reducer, inputs, to, left, chunk.elements, inclusive);
    else if (inclusive && to != own)
      kernel::copy_row(to, own, bytes);
    group.publish(group.self().chunks_done.value, number + 1);
  }
  copies.end();
  group.finish(call);
  return Result::ok;
}

}  // namespace millrace::collective
