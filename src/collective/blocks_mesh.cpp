// Alltoall of small blocks among many ranks (transposed.h).
#include "collective/blocks.h"
#include "collective/transposed.h"

namespace millrace::collective {

Result blocks_mesh(Group& group, const Call& call, const Blocks& blocks) {
  Transposed mesh(group, blocks.bytes);
  const MeshPlan& plan = mesh.plan();
  const std::uint32_t self = group.rank();
  char* cell = nullptr;
  if (const Result result = mesh.own_cell(call, cell); result != Result::ok) return result;
  for (std::uint32_t rank = 0; rank < group.ranks(); ++rank)
    if (rank != self) pack(blocks.sent_to(rank), 0, blocks.bytes, cell + rank * blocks.bytes);
  if (const Result result = mesh.gather(call); result != Result::ok) return result;
  bool truncated = move_own(group, blocks);
  for (std::uint32_t step = 0; step < plan.teams(); ++step) {
    const std::uint32_t team = (mesh.team() + step) % plan.teams();  // not all at the same one at once
    const char* from = nullptr;
    if (const Result result = mesh.take(team, from); result != Result::ok) return result;
    for (std::uint32_t rank = plan.begin_of(team); rank < plan.begin_of(team + 1); ++rank, from += blocks.bytes) {
      if (rank == self) continue;
      const Data& to = blocks.received[rank];
      truncated = truncated || blocks.bytes > to.bytes;
      unpack(to, 0, std::min(blocks.bytes, to.bytes), from);
    }
  }
  mesh.finish(call);
  return truncated ? Result::truncated : Result::ok;
}

}  // namespace millrace::collective
