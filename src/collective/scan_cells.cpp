// Scan and Exscan of up to a cell: every rank fills its cell and reduces, in rank order, those of the ranks before it,
// and for Scan its own. Nobody waits for a rank behind it, and nobody for the last one.
#include "collective/algorithms.h"

namespace millrace::collective {

Result scan_cells(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                  const Reducer& reducer, bool inclusive) {
  const std::size_t bytes = elements * reducer.element_bytes;
  const bool is_last = group.rank() + 1 == group.ranks();
  const void* own = in;
  if (!is_last || in == out) {  // the fold must not read what it writes
    if (const Result result = group.cell_free(call, bytes); result != Result::ok) return result;
    own = group.data(group.rank(), call, bytes);
    group.copy(group.data(group.rank(), call, bytes), in, bytes);
    if (!is_last) group.post(call);
  }
  const void** const inputs = group.inputs();
  for (std::uint32_t rank = group.rank(); rank-- != 0;) {  // not all at the first one at once
    if (const Result result = group.receive(rank, call); result != Result::ok) return result;
    inputs[rank] = group.data(rank, call, bytes);
  }
  inputs[group.rank()] = own;
  const std::uint32_t count = group.rank() + (inclusive ? 1 : 0);
  if (count == 1 && inputs[0] != out) group.copy(out, inputs[0], bytes);
  if (count > 1) fold(reducer, inputs, count, out, elements, group.scratch());
  group.finish(call);
  return Result::ok;
}

}  // namespace millrace::collective
