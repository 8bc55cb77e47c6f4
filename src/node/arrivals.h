// When the ranks of a communicator came to their latest collective calls, on the clock that the ranks of a node have in
// common: so each can tell how long it has waited in a call for whom. Nobody waits here, and a rank that says nothing
// (no report was asked of it) is seen to do so.
//
//   Row[ranks], each on lines of its own:   present | stamps[128], of call c in stamps[c % 128]
//
// A stamp is one word: (c / 128 + 1) mod 2^16 in the upper 16 bits, ticks mod 2^48 below them. So a reader sees whole
// stamps, and of which call they are. Who is 128 calls ahead has overwritten what it said of this one; until then a
// call may be looked at after the next ones, eight of a rank on each line.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace millrace::node {

// For whom a rank has to wait in a call.
enum class WaitsFor : std::uint8_t { all, root, root_for_all, lower_ranks };

// A call of this rank.
struct Visit {
  std::uint64_t call = 0;  // counts those of the communicator, the same on all ranks
  std::uint64_t came_ticks = 0, left_ticks = 0;
  WaitsFor waits = WaitsFor::all;
  std::uint32_t root = 0;
};

// What it was like, as this rank can tell.
struct Meeting {
  bool is_known = false;         // else nothing can be said of this call
  bool is_first = false;         // this rank has waited, and came first of those that waited for the same one
  std::uint32_t last_rank = 0;   // for whom it has waited, if it has
  std::uint64_t wait_ticks = 0;  // until that one came
};

class Arrivals {
 public:
  static constexpr std::uint64_t most_stamps = 128;
  // Of the memory, zeroed before the first rank has it, aligned to a cache line.
  static std::size_t bytes(std::uint32_t ranks);

  Arrivals(char* memory, std::uint32_t rank, std::uint32_t ranks);
  // This rank does not know any more which call is which: from now on nothing can be said of calls with it.
  void withdraw() { rows_[rank_].is_present.store(0, std::memory_order_relaxed); }
  std::uint32_t rank() const { return rank_; }

  // This rank comes to a call.
  void come(std::uint64_t call, std::uint64_t now_ticks);
  // One that it has left, less than `most_stamps` calls ago.
  Meeting meeting(const Visit& visit) const;

 private:
  struct alignas(64) Row {
    std::atomic<std::uint32_t> is_present;
    alignas(64) std::atomic<std::uint64_t> stamps[most_stamps];
  };
  enum class Seen : std::uint8_t { here, not_yet, not_known };
  // `ahead_ticks`: how long before us it came; negative if after us. Not yet: when we left.
  Seen look(const Visit& visit, std::uint32_t rank, std::int64_t& ahead_ticks) const;
  Meeting wait_among(const Visit& visit, std::uint32_t first, std::uint32_t end) const;
  // Of the ranks from `first` on, without the one that was waited for.
  bool came_first(const Visit& visit, std::uint32_t first, std::uint32_t last_rank) const;

  Row* rows_;
  std::uint32_t rank_, ranks_;
};

}  // namespace millrace::node
