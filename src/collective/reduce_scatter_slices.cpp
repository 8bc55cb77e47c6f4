// Reduce_scatter of any size. In each step every rank fills its slot with a piece of each of the others' blocks, and
// reduces the same piece of its own, in rank order, from everybody's slots and its own buffer, straight to where the
// program wants it. The next step's slot is filled before this one's pieces are awaited. Of the first step the cell
// tells.
//
//   slot of rank 0   [ x0 block 1 | x0 block 2 ]
//   slot of rank 1   [ x1 block 0 | x1 block 2 ]
//   slot of rank 2   [ x2 block 0 | x2 block 1 ]
#include <algorithm>

#include "collective/algorithms.h"
#include "collective/call_copies.h"

namespace millrace::collective {
namespace {

struct Pieces {
  Group& group;
  const Call& call;
  const char* in;
  char* out;
  const Blocking& blocks;
  const Reducer& reducer;
  std::size_t piece;  // elements
  std::uint64_t first;

  std::size_t length(std::uint32_t rank, std::uint64_t step) const {
    const std::size_t all = blocks.count(rank), begin = step * piece;
    return begin >= all ? 0 : std::min(piece, all - begin);
  }
  const char* own(std::uint32_t block, std::uint64_t step) const {
    return in + (blocks.begin(block) + step * piece) * reducer.element_bytes;
  }
  // Of `from`, for the block of `to`.
  char* place(std::uint32_t from, std::uint32_t to, std::uint64_t step) const {
    const std::size_t index = to < from ? to : to - 1;
    return group.slot(from, first + step) + index * piece * reducer.element_bytes;
  }

  Result fill(std::uint64_t step) const {
    const std::uint32_t self = group.rank();
    if (const Result result = group.slot_free(first + step); result != Result::ok) return result;
    if (step == 0)
      if (const Result result = group.cell_free(call); result != Result::ok) return result;
    for (std::uint32_t turn = 1; turn < group.ranks(); ++turn) {
      const std::uint32_t to = (self + turn) % group.ranks();
      if (const std::size_t elements = length(to, step); elements != 0)
        group.leave(place(self, to, step), own(to, step), elements * reducer.element_bytes);
    }
    if (step == 0)
      group.post(call);
    else
      group.publish(group.self().filled.value, first + step + 1);
    return Result::ok;
  }

  Result reduce(std::uint64_t step) const {
    const std::uint32_t self = group.rank();
    const std::size_t elements = length(self, step);
    const void** const inputs = group.inputs();
    for (std::uint32_t rank = 0; rank < group.ranks() && (elements != 0 || step == 0); ++rank) {
      inputs[rank] = rank == self ? own(self, step) : place(rank, self, step);
      if (rank == self) continue;
      const Result result =
          step == 0 ? group.receive(rank, call) : group.wait(group.member(rank).filled.value, first + step + 1);
      if (result != Result::ok) return result;
    }
    if (elements != 0)
      fold(reducer, inputs, group.ranks(), out + step * piece * reducer.element_bytes, elements, group.scratch());
    group.publish(group.self().chunks_done.value, first + step + 1);
    return Result::ok;
  }
};

}  // namespace

Result reduce_scatter_slices(Group& group, const Call& call, const void* in, void* out, const Blocking& blocks,
                             const Reducer& reducer) {
  const std::size_t bytes = blocks.elements() * reducer.element_bytes;
  CallCopies copies(group, Kind::reduce_scatter, call, bytes, bytes, false);
  const std::size_t limit = std::min(group.selection().reduce_scatter_chunk_bytes, group.shape().slot_bytes);
  // A slot holds an element for each rank (collective.cpp saw to it). Whole cache lines where elements permit.
  std::size_t piece = std::max<std::size_t>(limit / (group.ranks() - 1) / reducer.element_bytes, 1);
  if (reducer.element_bytes <= line_bytes && line_bytes % reducer.element_bytes == 0) {
    const std::size_t piece_bytes = piece * reducer.element_bytes;
    if (piece_bytes > line_bytes) piece = piece_bytes / line_bytes * line_bytes / reducer.element_bytes;
  }
  const std::uint64_t count = (blocks.most() + piece - 1) / piece;
  const Pieces pieces{group,   call,  static_cast<const char*>(in), static_cast<char*>(out), blocks,
                      reducer, piece, group.take_chunks(count)};
  Result result = pieces.fill(0);
  for (std::uint64_t step = 0; step < count && result == Result::ok; ++step) {
    if (step + 1 < count) result = pieces.fill(step + 1);
    if (result == Result::ok) result = pieces.reduce(step);
  }
  if (result != Result::ok) return result;
  copies.end();
  group.finish(call);
  return Result::ok;
}

}  // namespace millrace::collective
