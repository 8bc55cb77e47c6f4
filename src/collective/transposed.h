// Small blocks from everybody to everybody among many ranks, in two steps over a mesh of ranks (mesh_plan.h), for
// Alltoall and Reduce_scatter: through cells each rank reads a line of every other.
//
//   1. each rank leaves its blocks for all in its cell
//   2. of each team, the members share the other teams out among themselves, and gather what their own team has for the
//      ranks of those, for each rank the blocks one behind the other
//   3. each rank reads, of each team, the blocks that are for it
#pragma once

#include "collective/algorithms.h"
#include "collective/mesh_plan.h"

namespace millrace::collective {

class Transposed {
 public:
  Transposed(Group& group, std::size_t block_bytes)
      : group_(group), plan_(group.ranks(), 1, 1), bytes_(block_bytes), team_(plan_.team_of(group.rank())) {}

  // Where this rank's blocks go, in the order of ranks, once the result is ok; then gather().
  Result own_cell(const Call& call, char*& cell) {
    group_.begin_steps(call);
    const Result result = group_.cell_free(call, bytes_ * group_.ranks());
    cell = group_.data(group_.rank(), call, bytes_ * group_.ranks());
    return result;
  }
  // Steps 1 and 2.
  Result gather(const Call& call);
  // Of the ranks of `team`, the blocks that are for this rank, one behind the other.
  Result take(std::uint32_t team, const char*& blocks);

  // After all that this rank takes.
  void finish(const Call& call) {
    group_.finish(gathered_);
    group_.all_heard(call);
  }

  const MeshPlan& plan() const { return plan_; }
  std::uint32_t team() const { return team_; }

  // The most that a rank gathers; whether that fits is known to all alike.
  static constexpr std::size_t most_bytes(std::uint32_t ranks, std::size_t block_bytes) {
    const MeshPlan plan(ranks, 1, 1);
    const std::uint32_t least = ranks / plan.teams(), most = (ranks + plan.teams() - 1) / plan.teams();
    return std::size_t{(plan.teams() + least - 1) / least} * most * most * block_bytes;
  }

 private:
  Result receive_row(std::uint32_t rank, const Call& call);
  // What a member has gathered: for every so many-th team, from `member` on.
  std::size_t gathered_bytes(std::uint32_t of_team, std::uint32_t member) const;

  Group& group_;
  const MeshPlan plan_;
  const std::size_t bytes_;
  const std::uint32_t team_;
  Call gathered_{};
};

}  // namespace millrace::collective
