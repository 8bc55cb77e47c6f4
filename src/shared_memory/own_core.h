// Whether the core of this process has other work: another job's, or that of ranks which count as another node's. Found
// out by who waits, when it gives the core away.
#pragma once

#include <atomic>
#include <cstdint>

namespace millrace::shared_memory {

// Who waits looks for so long before it gives its core away, where nobody else is known to want it.
inline constexpr std::uint64_t keeps_core_ns = 30'000;

class OwnCore {
 public:
  // Having somebody on it is believed until so many gifts in a row were given back at once. Not for a time: who spins,
  // because nobody was there for a while, gives nothing away and so finds nobody, whoever waits for the core.
  static constexpr std::uint32_t gifts_of_doubt = 128;
  // As long as it is believed, the system is asked once in so many gifts: that takes a third of a microsecond.
  static constexpr std::uint32_t gifts_to_ask = 8;

  // Gives it away once. `time_ns`: now, by monotonic_ns(); returns when this thread is back.
  std::uint64_t give_away(std::uint64_t time_ns);
  // Whether somebody was found to want it: then it is given away at once. Who waits may wait for just that one.
  bool is_wanted() const {
    return is_shared_.load(std::memory_order_relaxed) || doubts_.load(std::memory_order_relaxed) != 0;
  }
  // It is known otherwise, and for good, that somebody may always want it.
  void share() { is_shared_.store(true, std::memory_order_relaxed); }
  bool is_shared() const { return is_shared_.load(std::memory_order_relaxed); }
  // For how long it was away of late: who computes takes a slice of some milliseconds, who waits gives it back soon.
  std::uint64_t away_ns() const { return away_ns_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_shared_ = false;
  std::atomic<std::uint32_t> doubts_ = 0;
  std::atomic<std::uint64_t> away_ns_ = 0;
};

// Of this process; for any of its threads.
OwnCore& own_core();

}  // namespace millrace::shared_memory
