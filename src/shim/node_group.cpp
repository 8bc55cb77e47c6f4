#include "shim/node_group.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "abi.h"
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

// Whether it is so on every rank.
bool on_all_ranks(Word comm, bool mine) {
  const int value = mine ? 1 : 0;
  int least = 0;
  return host<Symbol::MPI_Allreduce>(as_word(&value), as_word(&least), 1, abi::int_type(), abi::min_op(), comm) == 0 &&
         least == 1;
}

// Rank 0 creates, the others open what they are told of. The same answer on every rank.
bool map_segment(Word comm, int rank, const collective::Shape& shape, SegmentKind kind, Segment& segment) {
  const std::size_t bytes = collective::segment_bytes(shape);
  // A name and, before it, whether there is one: all ranks must get the message, also when rank 0 has failed.
  struct {
    int created;
    SegmentName name;
  } message{};
  bool mapped = false;
  if (rank == 0) {
    mapped = shared_memory::create_segment(kind, bytes, segment) == Status::ok;
    message.created = mapped ? 1 : 0;
    if (mapped) message.name = segment.name;
  }
  if (host<Symbol::MPI_Bcast>(as_word(&message), sizeof message, abi::byte_type(), 0, comm) != 0) return false;
  if (rank != 0 && message.created)
    mapped = shared_memory::open_segment(kind, message.name, bytes, segment) == Status::ok;
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

std::unique_ptr<NodeGroup> NodeGroup::make(Word comm, int rank, int ranks) noexcept {
  const collective::Shape shape = collective::shape_for(static_cast<std::uint32_t>(ranks), most_group_bytes);
  if (shape.ranks == 0) return nullptr;  // the same on every rank
  const std::size_t bytes = collective::segment_bytes(shape);
  std::unique_ptr<NodeGroup> made(new (std::nothrow) NodeGroup);
  const bool may = made && process_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most_process_bytes;
  bool ready = on_all_ranks(comm, may);
  ready = ready && (map_segment(comm, rank, shape, SegmentKind::memfd, made->segment_) ||
                    map_segment(comm, rank, shape, SegmentKind::shm_open, made->segment_));
  if (ready) {
    shared_memory::forget_name(made->segment_);
    collective::Options options;
    options.host = {drive_host, nullptr};
    options.crowded_node = node_is_crowded();
    const bool joined =
        made->group_.join(made->segment_.base, shape, static_cast<std::uint32_t>(rank), options) == Status::ok;
    ready = on_all_ranks(comm, joined) && on_all_ranks(comm, made->group_.start() == collective::Result::ok);
  }
  if (ready) {
    made->bytes_ = bytes;
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

}  // namespace millrace::shim
