#include "shared_memory/own_core.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

#include "base/clock.h"

namespace millrace::shared_memory::test {
namespace {

// A thread with work on one processor with another that gives it away, until that has noticed or time is over.
bool notices(bool has_work) {
  cpu_set_t before, one;
  sched_getaffinity(0, sizeof before, &before);
  CPU_ZERO(&one);
  for (std::size_t processor = 0; CPU_COUNT(&one) == 0; ++processor)
    if (CPU_ISSET(processor, &before)) CPU_SET(processor, &one);
  sched_setaffinity(0, sizeof one, &one);  // the thread that is begun inherits it
  std::atomic<bool> is_over = false;
  std::thread other([&] {
    while (has_work && !is_over.load(std::memory_order_relaxed)) {
    }
  });
  constexpr std::uint64_t longest_ns = 10'000'000'000;
  OwnCore core;
  const std::uint64_t begin_ns = monotonic_ns();
  std::uint64_t time_ns = begin_ns;
  for (int gift = 0; !core.is_wanted(time_ns) && (has_work ? time_ns - begin_ns < longest_ns : gift < 3); ++gift)
    time_ns = core.give_away(time_ns);
  const bool is_wanted = core.is_wanted(time_ns);
  is_over = true;
  other.join();
  sched_setaffinity(0, sizeof before, &before);
  return is_wanted;
}

TEST(OwnCore, IsWantedBySomebodyWithWork) { EXPECT_TRUE(notices(true)); }

// Others may be at work on this machine, but not always.
TEST(OwnCore, IsItsOwnWhereNobodyHasWork) {
  bool was_wanted = true;
  for (int attempt = 0; was_wanted && attempt < 1000; ++attempt) was_wanted = notices(false);
  EXPECT_FALSE(was_wanted);
}

TEST(OwnCore, IsNotWantedForever) {
  OwnCore core;
  const std::uint64_t long_ago_ns = monotonic_ns() - 1'000'000'000;
  const std::uint64_t back_ns = core.give_away(long_ago_ns);  // away for a second
  EXPECT_TRUE(core.is_wanted(back_ns));
  EXPECT_FALSE(core.is_wanted(back_ns + 1'000'000'000));
}

}  // namespace
}  // namespace millrace::shared_memory::test
