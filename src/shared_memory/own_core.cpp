#include "shared_memory/own_core.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/clock.h"

namespace millrace::shared_memory {
namespace {

// Somebody's work. Interrupts take a few microseconds.
constexpr std::uint64_t others_ran_ns = 20'000;
// Who waits on the same core, and only looks before he gives it away again, needs no longer than an interrupt: of that
// the system is asked. Back before it, there was nobody.
constexpr std::uint64_t perhaps_ran_ns = 1'500;

// How often this thread has lost its core to others.
long times_taken() {
  rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

constinit OwnCore core;

}  // namespace

OwnCore& own_core() { return core; }

std::uint64_t OwnCore::give_away(std::uint64_t time_ns) {
  const std::uint32_t doubts = doubts_.load(std::memory_order_relaxed);
  const bool asks = doubts == 0 || doubts % gifts_to_ask == 1;  // not where somebody was just found
  const long taken_before = asks ? times_taken() : 0;
  sched_yield();
  const std::uint64_t back_ns = monotonic_ns(), away_ns = back_ns - time_ns;
  // The longest, forgotten in some gifts: a loop that has just had its slice gives the core back at once, too.
  const std::uint64_t of_late_ns = away_ns_.load(std::memory_order_relaxed);
  away_ns_.store(std::max(away_ns, of_late_ns - of_late_ns / 8), std::memory_order_relaxed);
  if (away_ns >= others_ran_ns || (asks && away_ns >= perhaps_ran_ns && times_taken() != taken_before))
    doubts_.store(gifts_of_doubt, std::memory_order_relaxed);
  else if (doubts != 0)
    doubts_.store(doubts - 1, std::memory_order_relaxed);
  return back_ns;
}

}  // namespace millrace::shared_memory
