// The board of a job on this node: who of it is here, and memory that they may share (board_layout.h).
//
//   directory of the user/NAME    NAME is made of the job's key. Whoever comes first makes the file; who finds it there
//                                 joins, if the file is whole, of this job, and has no rank of that number yet.
//                                 The name goes when all ranks of the node that the launcher speaks of have joined, or
//                                 the last one leaves. What a killed job leaves behind, the next board's maker removes.
//
// Nobody waits for anybody here, but for the file lock while another joins.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/status.h"
#include "node/board_layout.h"
#include "node/memory_limit.h"

namespace millrace::node {

struct JoinRequest {
  std::string key;  // job_key()
  std::uint32_t rank = 0, world_ranks = 1;
  std::uint32_t ranks_here = 0;  // of the job on this node, if the launcher says; 0: not known
  std::uint64_t digest = 0;
  std::uint64_t processors = 0;
  bool reports = false;
  bool try_memfd = true;  // false for tests of the other kind
};

class Board {
 public:
  // Joins the board of a job; null and a reason if that cannot be. It stays mapped to the end of the process.
  static Board* join(const JoinRequest& request, std::string& why_not);
  // The same in another directory (tests): its descriptor.
  static Board* join(const JoinRequest& request, int directory, std::string& why_not);

  std::uint32_t rank() const { return rank_; }
  std::uint32_t world_ranks() const { return world_ranks_; }
  // How far reports have come: with the lock to change it.
  std::atomic<std::uint32_t>& has_early_report() { return head_->has_early_report; }
  std::atomic<std::uint32_t>& are_parts_taken() { return head_->are_parts_taken; }
  const std::atomic<std::uint32_t>& are_parts_taken() const { return head_->are_parts_taken; }
  BoardMember& member(std::uint32_t rank) const { return members_[rank]; }
  bool is_here(std::uint32_t rank) const {
    return rank < world_ranks_ && member(rank).here.load(std::memory_order_acquire) == 1;  // partner: join(), leave()
  }
  // Who of the job sleeps here, by rank of the world; for as many ranks as it has seats.
  shared_memory::Attention& attention() const;
  // How many ranks of the job have joined so far.
  std::uint32_t joined() const { return head_->joined.load(std::memory_order_relaxed); }
  // What regions in use may take together, of all ranks: a share of what the first to ask has found available.
  std::uint64_t budget_bytes();
  // What the machine and the control groups of this process have left, or had some milliseconds ago. 0: not known.
  std::uint64_t available_memory_bytes() { return memory_.recent_bytes(monotonic_ns()); }
  // Nothing new can be agreed on.
  bool stopped() const { return head_->closed.load(std::memory_order_relaxed) != 0; }
  void stop() { head_->closed.store(1, std::memory_order_relaxed); }

  // This rank ends. True if it is the last that had joined.
  bool leave();

  // Between these two nobody else of the job on this node is. False: it could not be had within a second, or one that
  // had it died, and then the board is closed. Threads of one process count as well.
  bool lock();
  void unlock();

  // ---- with the lock held ----
  // The record of a communicator, made if there is none. 0: no room. `made` tells.
  std::uint32_t find_record(const Identity& identity, std::uint32_t members);
  // Zeroed memory of whole pages; 0: no room, or it would be more than the ranks of a node should share.
  std::uint32_t allocate(std::size_t bytes);
  void release(std::uint32_t region);

  // ---- without ----
  // Where a region of at least `bytes` lies; null for a number that is none.
  char* region(std::uint32_t number, std::size_t bytes) const;
  // Makes sure that touching [offset, offset + bytes) of a region cannot fail for want of memory. With a memfd nothing
  // is done: its pages come when they are touched.
  Status reserve(std::uint32_t number, std::size_t offset_bytes, std::size_t bytes) const;
  bool comes_by_touch() const { return file_ < 0; }

 private:
  Board() = default;
  Status map(int file, bool make, const JoinRequest& request);
  Status make_head(int file, const JoinRequest& request);
  Status map_arena(int file);
  bool is_of(const JoinRequest& request) const;
  bool is_abandoned() const;
  Status claim(const JoinRequest& request);
  void forget_maps();
  bool holder_is_gone(std::uint32_t holder) const;
  std::uint32_t make_region(const Identity& identity, std::size_t bytes);
  struct Place {
    char* base;  // null: a number that is none, or nonsense stands there
    std::uint64_t bytes;
  };
  Place place_of(std::uint32_t region) const;
  Region* regions() const { return reinterpret_cast<Region*>(arena_); }

  BoardHead* head_ = nullptr;
  BoardMember* members_ = nullptr;
  char* arena_ = nullptr;
  std::uint64_t arena_bytes_ = 0;  // as mapped here; what stands in the head may be scribbled on
  std::uint64_t head_bytes_ = 0;
  std::atomic<std::uint64_t> budget_bytes_{0};  // as read first; likewise
  std::uint32_t rank_ = 0, world_ranks_ = 0;
  shared_memory::ProcessIdentity self_;  // when it joined
  bool in_file_ = false;                 // the arena is part of the file
  int file_ = -1;                        // where regions are part of the file: to reserve pages
  int memfd_ = -1;                       // of the maker: others open it through /proc
  std::uint64_t file_device_ = 0, file_inode_ = 0;
  std::uint64_t arena_offset_bytes_ = 0;
  int directory_ = -1;
  std::string name_;
  MemoryGauge memory_;
};

}  // namespace millrace::node
