// Barrier among many ranks: the first of each team (mesh_plan.h) hears from its team, then from the first of every
// other team, and tells its own. Three steps, each of which looks at some square root of the cells; a tree has twice as
// many steps as levels.
#include "collective/algorithms.h"
#include "collective/mesh_plan.h"

namespace millrace::collective {
namespace {

Result tell(Group& group, const Call& call) {
  if (const Result result = group.cell_free(call); result != Result::ok) return result;
  group.post(call);
  return Result::ok;
}

}  // namespace

Result barrier_mesh(Group& group, const Call& call) {
  const MeshPlan plan(group.ranks(), 1, 1);
  const std::uint32_t team = plan.team_of(group.rank()), leader = plan.begin_of(team);
  const bool leads = group.rank() == leader;
  group.begin_steps(call);
  Result result = leads ? Result::ok : tell(group, call);
  for (std::uint32_t rank = leader + 1; leads && rank < plan.begin_of(team + 1) && result == Result::ok; ++rank)
    result = group.receive(rank, call);
  if (result == Result::ok) group.finish(call);

  Call between, end;
  if (result == Result::ok) result = group.enter(Kind::barrier, 0, 0, between);
  if (leads && result == Result::ok) result = tell(group, between);
  for (std::uint32_t step = 1; leads && step < plan.teams() && result == Result::ok; ++step)
    result = group.receive(plan.begin_of((team + step) % plan.teams()), between);  // not all at the same one at once

  if (result == Result::ok) group.finish(between);

  if (result == Result::ok) result = group.enter(Kind::barrier, 0, 0, end);
  if (result == Result::ok) result = leads ? tell(group, end) : group.receive(leader, end);
  if (result != Result::ok) return result;
  group.finish(end);
  group.all_heard(call);
  return Result::ok;
}

}  // namespace millrace::collective
