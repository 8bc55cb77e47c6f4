#include "shim/node/node_group.h"

#include <sched.h>

#include <algorithm>
#include <new>

#include "base/launcher.h"
#include "collective/group_memory.h"
#include "shared_memory/own_core.h"
#include "shared_memory/process.h"
#include "shim/bind/attention.h"
#include "shim/host/host_progress.h"

namespace millrace::shim {
namespace {

constexpr std::size_t groups_of_a_node = 4;  // at the least, if they are as large as that

collective::Selection selection_in_force;
collective::Waiting waiting_in_force = collective::Waiting::automatic;

collective::GroupShape shape_of(node::Board& board, std::uint32_t ranks) {
  const std::uint64_t most_bytes =
      std::min<std::uint64_t>(collective::usual_group_bytes, board.budget_bytes() / groups_of_a_node);
  return collective::shape_for(ranks, most_bytes);
}

// Whether ranks of this job that are not in the group share cores with it. Known from the launcher where it tells how
// many ranks it has started on this node, else from those that have joined so far.
bool node_is_crowded(const node::Board& board) {
  const int local_ranks = std::max(told_local_ranks(), static_cast<int>(board.joined()));
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return false;
  // Ranks that are bound have few processors each, and the group finds out by itself whether it shares them.
  return CPU_COUNT(&mask) > 1 && local_ranks > CPU_COUNT(&mask);
}

}  // namespace

void configure_node_groups(const collective::Selection& selection, collective::Waiting waiting) {
  selection_in_force = selection;
  waiting_in_force = waiting;
}

std::size_t NodeGroup::region_bytes(node::Board& board, std::uint32_t ranks) {
  const collective::GroupShape shape = shape_of(board, ranks);
  return shape.ranks == 0 ? 0 : collective::segment_bytes(shape);
}

std::unique_ptr<NodeGroup> NodeGroup::join(node::Board& board, std::uint32_t region, std::uint32_t rank,
                                           std::uint32_t ranks) noexcept {
  const collective::GroupShape shape = shape_of(board, ranks);
  if (shape.ranks == 0) return nullptr;
  char* const base = board.region(region, collective::segment_bytes(shape));
  const collective::OwnPart part = collective::own_part(shape, rank);
  if (!base || board.reserve(region, part.offset_bytes, part.bytes) != Status::ok) return nullptr;
  std::unique_ptr<NodeGroup> made(new (std::nothrow) NodeGroup);
  collective::Options options;
  options.host = {drive_host, nullptr};
  options.crowded_node = node_is_crowded(board);
  options.waiting = waiting_in_force;
  if (options.waiting == collective::Waiting::automatic && !options.crowded_node &&
      shared_memory::own_core().is_shared())
    options.waiting = collective::Waiting::yield;
  options.seating = seating();
  options.lets_write = !shared_memory::writes_are_followed();
  options.selection = &selection_in_force;
  if (!made || made->group_.join(base, shape, rank, options) != Status::ok) return nullptr;
  return made;
}

std::unique_ptr<NodeGroup> NodeGroup::over(collective::Across& across) noexcept {
  std::unique_ptr<NodeGroup> made(new (std::nothrow) NodeGroup);
  if (made) made->group_.span(across, selection_in_force);
  return made;
}

}  // namespace millrace::shim
