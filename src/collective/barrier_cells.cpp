// Barrier: every rank fills its cell and reads everybody's. One crossing of a cache line, whatever the number of ranks.
#include "collective/algorithms.h"

namespace millrace::collective {

Result barrier_cells(Group& group, const Call& call) {
  if (const Result result = group.cell_free(call); result != Result::ok) return result;
  group.post(call);
  for (std::uint32_t step = 1; step < group.ranks(); ++step) {
    const std::uint32_t rank = group.before(step);
    if (const Result result = group.receive(rank, call); result != Result::ok) return result;
  }
  group.all_heard(call);
  return Result::ok;
}

}  // namespace millrace::collective
