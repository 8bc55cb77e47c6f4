// Reduce_scatter of small blocks that are alike among many ranks (transposed.h), each reduced in rank order.
#include "collective/transposed.h"

namespace millrace::collective {

Result reduce_scatter_mesh(Group& group, const Call& call, const void* in, void* out, const Blocking& blocks,
                           const Reducer& reducer) {
  const std::size_t bytes = blocks.count(0) * reducer.element_bytes;
  Transposed mesh(group, bytes);
  char* cell = nullptr;
  if (const Result result = mesh.own_cell(call, cell); result != Result::ok) return result;
  group.copy(cell, in, bytes * group.ranks());
  if (const Result result = mesh.gather(call); result != Result::ok) return result;
  const MeshPlan& plan = mesh.plan();
  for (std::uint32_t step = 0; step < plan.teams(); ++step) {
    const std::uint32_t team = (mesh.team() + step) % plan.teams();
    const char* from = nullptr;
    if (const Result result = mesh.take(team, from); result != Result::ok) return result;
    const void** const inputs = group.inputs() + plan.begin_of(team);
    for (std::uint32_t row = 0; row < plan.ranks_of(team); ++row) inputs[row] = from + row * bytes;
  }
  fold(reducer, group.inputs(), group.ranks(), out, blocks.count(0), group.scratch());
  mesh.finish(call);
  return Result::ok;
}

}  // namespace millrace::collective
