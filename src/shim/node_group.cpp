#include "shim/node_group.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "abi.h"
#include "shim/attention.h"
#include "shim/forward.h"
#include "shim/host_progress.h"

namespace millrace::shim {
namespace {

using shared_memory::Segment;
using shared_memory::SegmentKind;
using shared_memory::SegmentName;

// All segments of this process together. Past it, communicators stay with the host.
constexpr std::size_t most_process_bytes = std::size_t{1} << 30;
constexpr std::size_t most_group_bytes = std::size_t{64} << 20;
std::atomic<std::size_t> process_bytes{0};
std::atomic<int> groups_made{0};

collective::Selection selection_in_force;
collective::Waiting waiting_in_force = collective::Waiting::automatic;

constexpr std::size_t most_kept_groups = 16;
std::mutex kept_mutex;
std::vector<std::unique_ptr<NodeGroup>>& kept_groups() {
  static auto& groups = *new std::vector<std::unique_ptr<NodeGroup>>;  // never destroyed, as every registry of the shim
  return groups;
}

// Whether it is so on every rank.
bool on_all_ranks(Word comm, bool mine) {
  const int value = mine ? 1 : 0;
  int least = 0;
  return host<Symbol::MPI_Allreduce>(as_word(&value), as_word(&least), 1, abi::int_type(), abi::min_op(), comm) == 0 &&
         least == 1;
}

// Rank 0 creates, the others open what they are told of. The same answer on every rank.
bool map_segment(Word comm, int rank, const collective::Shape& shape, SegmentKind kind, Segment& segment, int& number) {
  const std::size_t bytes = collective::segment_bytes(shape);
  // A name and, before it, whether there is one: all ranks must get the message, also when rank 0 has failed.
  struct {
    int number;  // of the group; 0 if there is no segment
    SegmentName name;
  } message{};
  bool mapped = false;
  if (rank == 0) {
    mapped = shared_memory::create_segment(kind, bytes, segment) == Status::ok;
    if (mapped) message = {groups_made.fetch_add(1, std::memory_order_relaxed) + 1, segment.name};
  }
  if (host<Symbol::MPI_Bcast>(as_word(&message), sizeof message, abi::byte_type(), 0, comm) != 0) return false;
  number = message.number;
  if (rank != 0 && number != 0) mapped = shared_memory::open_segment(kind, message.name, bytes, segment) == Status::ok;
  if (mapped) {
    const collective::Part part = collective::own_part(shape, static_cast<std::uint32_t>(rank));
    mapped = shared_memory::reserve_pages(segment, part.offset_bytes, part.bytes) == Status::ok;
  }
  if (on_all_ranks(comm, mapped)) return true;
  if (segment.base) shared_memory::close_segment(segment);
  segment = {};
  return false;
}

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}

// Whether ranks of this job that are not in the group share cores with it. Known from the launcher where it tells how
// many ranks it has started on this node.
bool node_is_crowded() {
  const int local_ranks = std::max(number_in("OMPI_COMM_WORLD_LOCAL_SIZE"), number_in("MPI_LOCALNRANKS"));
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (local_ranks == 0 || sched_getaffinity(0, sizeof mask, &mask) != 0) return false;
  // Ranks that are bound have few processors each, and the group finds out by itself whether it shares them.
  return CPU_COUNT(&mask) > 1 && local_ranks > CPU_COUNT(&mask);
}

}  // namespace

void configure_node_groups(const collective::Selection& selection, collective::Waiting waiting) {
  selection_in_force = selection;
  waiting_in_force = waiting;
}

std::unique_ptr<NodeGroup> NodeGroup::make(Word comm, int rank, std::vector<int> members) noexcept {
  const collective::Shape shape = collective::shape_for(static_cast<std::uint32_t>(members.size()), most_group_bytes);
  if (shape.ranks == 0) return nullptr;  // the same on every rank
  const std::size_t bytes = collective::segment_bytes(shape);
  std::unique_ptr<NodeGroup> made(new (std::nothrow) NodeGroup);
  const bool fits = process_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most_process_bytes;
  bool ready = on_all_ranks(comm, made && fits);
  int number = 0;
  ready = ready && (map_segment(comm, rank, shape, SegmentKind::memfd, made->segment_, number) ||
                    map_segment(comm, rank, shape, SegmentKind::unnamed, made->segment_, number) ||
                    map_segment(comm, rank, shape, SegmentKind::shm_open, made->segment_, number));
  if (ready) {
    shared_memory::forget_name(made->segment_);
    collective::Options options;
    options.host = {drive_host, nullptr};
    options.crowded_node = node_is_crowded();
    options.waiting = waiting_in_force;
    options.seating = seating();
    options.selection = &selection_in_force;
    const bool joined =
        made->group_.join(made->segment_.base, shape, static_cast<std::uint32_t>(rank), options) == Status::ok;
    ready = on_all_ranks(comm, joined) && on_all_ranks(comm, made->group_.start() == collective::Result::ok);
  }
  if (ready) {
    made->bytes_ = bytes;
    made->number_ = number;
    made->members_ = std::move(members);
    return made;
  }
  process_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  return nullptr;
}

NodeGroup::~NodeGroup() {
  group_.leave();
  if (segment_.base) shared_memory::close_segment(segment_);
  process_bytes.fetch_sub(bytes_, std::memory_order_relaxed);
}

std::unique_ptr<NodeGroup> take_kept_group(const std::vector<int>& members) {
  const std::lock_guard lock(kept_mutex);
  auto& groups = kept_groups();
  const auto found =
      std::find_if(groups.begin(), groups.end(), [&](const auto& kept) { return kept->members_ == members; });
  if (found == groups.end()) return nullptr;
  std::unique_ptr<NodeGroup> group = std::move(*found);
  groups.erase(found);
  return group;
}

void return_kept_group(std::unique_ptr<NodeGroup> group) noexcept try {
  if (!group) return;
  const std::lock_guard lock(kept_mutex);
  kept_groups().insert(kept_groups().begin(), std::move(group));
} catch (...) {
  // No memory for the list: the group ends here.
}

void keep_group(std::unique_ptr<NodeGroup> group) noexcept try {
  if (!group || group->group_.broken() != collective::Result::ok) return;
  std::unique_ptr<NodeGroup> ended;
  const std::lock_guard lock(kept_mutex);
  auto& groups = kept_groups();
  groups.push_back(std::move(group));
  if (groups.size() > most_kept_groups) {
    ended = std::move(groups.front());
    groups.erase(groups.begin());
  }
} catch (...) {
  // No memory for the list: the group ends here.
}

void forget_kept_groups() {
  const std::lock_guard lock(kept_mutex);
  kept_groups().clear();
}

}  // namespace millrace::shim
