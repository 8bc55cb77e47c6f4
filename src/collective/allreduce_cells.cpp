// Allreduce of up to a cell: every rank puts its elements into its cell, reads everybody's and reduces them by itself
// in rank order. One synchronisation; the arithmetic is done `ranks` times, which for small messages is cheaper than a
// second crossing.
#include "collective/algorithms.h"

namespace millrace::collective {

Result allreduce_cells(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                       const Reducer& reducer) {
  const std::size_t bytes = elements * reducer.element_bytes;
  if (const Result result = group.cell_free(call, bytes); result != Result::ok) return result;
  group.copy(group.data(group.rank(), call, bytes), in, bytes);
  group.post(call);
  const void** const inputs = group.inputs();
  inputs[group.rank()] = group.data(group.rank(), call, bytes);
  for (std::uint32_t step = 1; step < group.ranks(); ++step) {
    const std::uint32_t rank = group.before(step);
    inputs[rank] = group.data(rank, call, bytes);
    if (const Result result = group.receive(rank, call); result != Result::ok) return result;
  }
  fold(reducer, inputs, group.ranks(), out, elements, group.scratch());
  group.all_heard(call);
  return Result::ok;
}

}  // namespace millrace::collective
