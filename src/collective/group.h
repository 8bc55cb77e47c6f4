// The ranks of one communicator that share a segment: how the segment is laid out and what a process keeps about it.
//
//   // every rank, with equal `shape`; the segment comes from shared_memory/segment.h
//   segment.bytes = segment_bytes(shape);
//   auto part = own_part(shape, rank);  reserve_pages(segment, part.offset_bytes, part.bytes)
//   Group group;
//   group.join(segment.base, shape, rank, options);     // writes who we are; then all agree through the host MPI
//   group.start();                                      // reads who the others are
//   barrier(group) ...                                  // collective/collective.h
//
// A Group is used by one thread at a time. Different groups are independent. After any result but ok and not_supported
// a group is broken: every further call returns that result at once, on every rank, and ranks that wait return it too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "collective/result.h"
#include "shared_memory/waiting.h"

namespace millrace::collective {

using shared_memory::Host;
using shared_memory::Waiting;

// Sizes that all ranks must know alike.
struct Shape {
  std::uint32_t ranks = 0;
  std::uint32_t calls_ahead = 64;       // ring of small messages: so far may a root or leaf run ahead; a power of two
  std::uint32_t cell_bytes = 4096;      // largest small message; a multiple of 64
  std::uint32_t slots = 8;              // ring of chunks for large messages; a power of two, >= 8
  std::uint32_t slot_bytes = 64 << 10;  // largest chunk; a multiple of 64 * ranks
};

// A shape for so many ranks whose segment is not larger than `most_bytes`; ranks == 0 if there is none.
Shape shape_for(std::uint32_t ranks, std::size_t most_bytes);

std::size_t segment_bytes(const Shape& shape);

struct Part {
  std::size_t offset_bytes, bytes;
};
// The pages that only `rank` writes (rank 0's include the head of the segment), whole pages, disjoint, covering all.
Part own_part(const Shape& shape, std::uint32_t rank);

struct Options {
  Host host;
  Waiting waiting = Waiting::automatic;  // ranks may ask for different ones; the most patient is taken by all
  bool crowded_node = false;             // ranks of the node that are not in this group share cores with it
};

class Group {
 public:
  Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { leave(); }

  // Writes who we are into the segment at `base`, which is zeroed memory, aligned to pages. bad_argument: a shape that
  // no segment can have; no_memory: for this process' own notes (then nobody may start).
  Status join(void* base, const Shape& shape, std::uint32_t rank, const Options& options);

  // Waits until every rank has joined (it has, where the host agreed on it) and decides how to wait. peer_died,
  // mismatch (shapes differ) as for a collective.
  Result start();

  // Says that we end well: peers no longer mind when this process is gone. Then the segment may be unmapped.
  void leave();

  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return shape_.ranks; }
  const Shape& shape() const { return shape_; }
  Waiting waiting() const { return waiting_; }  // never automatic after start()
  bool crowded() const { return crowded_; }     // some ranks of the group (or the node) have no core of their own

 private:
  Shape shape_{};
  std::uint32_t rank_ = 0;
  Waiting waiting_ = Waiting::spin;
  bool crowded_ = false;
};

}  // namespace millrace::collective
