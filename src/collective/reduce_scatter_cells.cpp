// Reduce_scatter of up to a cell: every rank puts the blocks of the others into its cell, each where it begins in `in`,
// and reduces its own block out of everybody's, in rank order.
#include "collective/algorithms.h"

namespace millrace::collective {

Result reduce_scatter_cells(Group& group, const Call& call, const void* in, void* out, const Blocking& blocks,
                            const Reducer& reducer) {
  const std::size_t each = reducer.element_bytes, bytes = blocks.elements() * each;
  const std::size_t offset = blocks.begin(group.rank()) * each, own_bytes = blocks.count(group.rank()) * each;
  const char* const from = static_cast<const char*>(in);
  if (const Result result = group.cell_free(call, bytes, offset == 0 ? own_bytes : 0); result != Result::ok)
    return result;
  char* const cell = group.data(group.rank(), call, bytes);
  const std::size_t behind = offset + own_bytes;
  group.copy(cell, from, offset);
  group.copy(cell + behind, from + behind, bytes - behind);
  group.post(call);
  const void** const inputs = group.inputs();
  for (std::uint32_t step = 1; step < group.ranks(); ++step) {
    const std::uint32_t rank = group.before(step);
    inputs[rank] = group.data(rank, call, bytes) + offset;
    if (const Result result = group.receive(rank, call); result != Result::ok) return result;
  }
  inputs[group.rank()] = from + offset;
  if (const std::size_t own = blocks.count(group.rank()); own != 0)
    fold(reducer, inputs, group.ranks(), out, own, group.scratch());
  group.all_heard(call);
  return Result::ok;
}

}  // namespace millrace::collective
