// Scan and Exscan of a few bytes among many ranks: every rank fills its cell, the last of each team (mesh_plan.h)
// gathers those of its team, and whoever comes after that reads its cell, and of its own team the cells of those before
// it. So nobody waits for a rank behind it.
#include "collective/algorithms.h"
#include "collective/mesh_plan.h"

namespace millrace::collective {

Result scan_gathered(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                     const Reducer& reducer, bool inclusive) {
  const std::size_t bytes = elements * reducer.element_bytes;
  const MeshPlan plan(group.ranks(), 1, bytes);
  const std::uint32_t self = group.rank(), team = plan.team_of(self), first = plan.begin_of(team);
  const std::uint32_t rows = plan.ranks_of(team);
  group.begin_steps(call);
  if (const Result result = group.cell_free(call, bytes); result != Result::ok) return result;
  group.copy(group.data(self, call, bytes), in, bytes);
  group.post(call);
  Call gathered;
  if (const Result result = group.enter(Kind::scan, bytes, 0, gathered); result != Result::ok) return result;

  const void** const inputs = group.inputs();
  for (std::uint32_t rank = first; rank <= self; ++rank) {
    if (rank != self)
      if (const Result result = group.receive(rank, call); result != Result::ok) return result;
    inputs[rank] = group.data(rank, call, bytes);
  }
  if (self + 1 == plan.begin_of(team + 1) && team + 1 < plan.teams()) {
    if (const Result result = group.cell_free(gathered, rows * bytes); result != Result::ok) return result;
    char* const cell = group.data(self, gathered, rows * bytes);
    for (std::uint32_t row = 0; row < rows; ++row) group.copy(cell + row * bytes, inputs[first + row], bytes);
    group.post(gathered);
  }
  for (std::uint32_t before = team; before-- != 0;) {  // not all at the first one at once
    const std::uint32_t last = plan.begin_of(before + 1) - 1, count = plan.ranks_of(before);
    if (const Result result = group.receive(last, gathered); result != Result::ok) return result;
    const char* const cell = group.data(last, gathered, count * bytes);
    for (std::uint32_t row = 0; row < count; ++row) inputs[plan.begin_of(before) + row] = cell + row * bytes;
  }
  const std::uint32_t count = self + (inclusive ? 1 : 0);
  if (count == 1) group.copy(out, inputs[0], bytes);
  if (count > 1) fold(reducer, inputs, count, out, elements, group.scratch());
  group.finish(gathered);
  return Result::ok;
}

}  // namespace millrace::collective
