// When the ranks of a communicator came to their latest collective calls, on the clock that the ranks of a node have in
// common: so each can tell, when it leaves a call, how long it has waited in it for whom. Nobody waits here, and a rank
// that says nothing (no report was asked of it) is seen to do so.
//
//   Row[ranks], each on lines of its own:   present | stamps[128], of call c in stamps[c % 128]
//
// A stamp is one word: (c / 128 + 1) mod 2^16 in the upper 16 bits, ns mod 2^48 below them. So a reader sees whole
// stamps, and of which call they are. Who is 128 calls ahead has overwritten what it said of this one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace millrace::node {

// For whom a rank has to wait in a call.
enum class WaitsFor : std::uint8_t { all, root, root_for_all, lower_ranks };

// What a call was like, as one rank can tell.
struct Meeting {
  bool is_known = false;        // else nothing can be said of this call
  bool is_late = false;         // this rank came last of those that others had to wait for, and others were there
  std::uint32_t last_rank = 0;  // for whom it has waited, if it has
  std::uint64_t wait_ns = 0;    // until that one came
};

class Arrivals {
 public:
  // Of the memory, zeroed before the first rank has it, aligned to a cache line.
  static std::size_t bytes(std::uint32_t ranks);

  Arrivals(char* memory, std::uint32_t rank, std::uint32_t ranks);
  // This rank does not know any more which call is which: from now on nothing can be said of calls with it.
  void withdraw() { rows_[rank_].is_present.store(0, std::memory_order_relaxed); }
  std::uint32_t rank() const { return rank_; }

  // This rank comes to a call. `call` counts those of the communicator, the same on all ranks.
  void come(std::uint64_t call, std::uint64_t now_ns);
  // It leaves the one to which it came last.
  Meeting leave(WaitsFor waits, std::uint32_t root) const;

 private:
  static constexpr std::uint64_t most_stamps = 128;
  struct alignas(64) Row {
    std::atomic<std::uint32_t> is_present;
    alignas(64) std::atomic<std::uint64_t> stamps[most_stamps];
  };
  enum class Seen : std::uint8_t { here, not_yet, not_known };
  // `ahead_ns`: how long before us it came; negative if after us.
  Seen look(std::uint32_t rank, std::int64_t& ahead_ns) const;
  Meeting wait_among(std::uint32_t first, std::uint32_t end, bool& is_last) const;
  bool somebody_came_before(std::uint32_t first) const;

  Row* rows_;
  std::uint32_t rank_, ranks_;
  std::uint64_t call_ = 0, entry_ns_ = 0;
};

}  // namespace millrace::node
