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
  // Gives it away once. `time_ns`: now, by monotonic_ns(); returns when this thread is back.
  std::uint64_t give_away(std::uint64_t time_ns);
  // Whether somebody was found to want it a moment ago: then it is given away at once. Who waits may wait for just that
  // one.
  bool is_wanted(std::uint64_t time_ns) const { return time_ns < wanted_until_ns_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> wanted_until_ns_ = 0;
};

// Of this process; for any of its threads.
OwnCore& own_core();

}  // namespace millrace::shared_memory
