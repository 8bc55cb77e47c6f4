// Reduce of up to a cell: every rank but the root fills its cell and goes on, as far as the ring reaches; the root
// reads all and reduces in rank order.
#include <cstring>

#include "collective/algorithms.h"

namespace millrace::collective {

Result reduce_cells(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                    const Reducer& reducer, std::uint32_t root) {
  const std::size_t bytes = elements * reducer.element_bytes;
  const bool at_root = group.rank() == root;
  const void* own = in;
  if (!at_root || in == out) {  // in place: the fold must not read what it writes
    if (const Result result = group.cell_free(call, bytes); result != Result::ok) return result;
    group.copy(group.data(group.rank(), call, bytes), in, bytes);
    own = group.data(group.rank(), call, bytes);
  }
  if (!at_root) {
    group.post(call);
    group.finish(call);
    return Result::ok;
  }
  const void** const inputs = group.inputs();
  for (std::uint32_t rank = 0; rank < group.ranks(); ++rank) {
    inputs[rank] = rank == root ? own : group.data(rank, call, bytes);
    if (rank == root) continue;
    if (const Result result = group.receive(rank, call); result != Result::ok) return result;
  }
  fold(reducer, inputs, group.ranks(), out, elements, group.scratch());
  group.finish(call);
  return Result::ok;
}

}  // namespace millrace::collective
