#include "shared_memory/own_core.h"

#include <sched.h>

#include "base/clock.h"

namespace millrace::shared_memory {
namespace {

// Back at once: there was nobody. Interrupts take a few microseconds, a turn of somebody else some hundred and more.
constexpr std::uint64_t others_ran_ns = 20'000;
constexpr std::uint64_t stays_wanted_ns = 20'000'000;

constinit OwnCore core;

}  // namespace

OwnCore& own_core() { return core; }

std::uint64_t OwnCore::give_away(std::uint64_t time_ns) {
  sched_yield();
  const std::uint64_t back_ns = monotonic_ns();
  if (back_ns - time_ns >= others_ran_ns) wanted_until_ns_.store(back_ns + stays_wanted_ns, std::memory_order_relaxed);
  return back_ns;
}

}  // namespace millrace::shared_memory
