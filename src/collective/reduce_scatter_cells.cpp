// Reduce_scatter of up to a cell: every rank puts all its elements into its cell, and reduces its own block out of
// everybody's, in rank order.
#include "collective/algorithms.h"

namespace millrace::collective {

Result reduce_scatter_cells(Group& group, const Call& call, const void* in, void* out, const Blocking& blocks,
                            const Reducer& reducer) {
  const std::size_t each = reducer.element_bytes, bytes = blocks.elements() * each;
  const std::size_t offset = blocks.begin(group.rank()) * each;
  if (const Result result = group.cell_free(call, bytes); result != Result::ok) return result;
  kernel::copy_row(group.data(group.rank(), call, bytes), in, bytes);
  group.post(call);
  const void** const inputs = group.inputs();
  for (std::uint32_t rank = 0; rank < group.ranks(); ++rank) {
    inputs[rank] = group.data(rank, call, bytes) + offset;
    if (rank == group.rank()) continue;
    if (const Result result = group.receive(rank, call); result != Result::ok) return result;
  }
  if (const std::size_t own = blocks.count(group.rank()); own != 0)
    fold(reducer, inputs, group.ranks(), out, own, group.scratch());
  group.all_heard(call);
  return Result::ok;
}

}  // namespace millrace::collective
