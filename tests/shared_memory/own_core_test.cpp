#include "shared_memory/own_core.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

#include "base/clock.h"

namespace millrace::shared_memory::test {
namespace {

constexpr std::uint64_t longest_ns = 10'000'000'000;

// Two threads on one processor: what the other one does, again and again, until this scope ends.
class OnOneProcessor {
 public:
  template <class Work>
  explicit OnOneProcessor(Work work) {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (std::size_t processor = 0; CPU_COUNT(&one) == 0; ++processor)
      if (CPU_ISSET(processor, &before_)) CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);  // the thread that is begun inherits it
    other_ = std::thread([this, work] {
      while (!is_over_.load(std::memory_order_relaxed)) work();
    });
  }
  ~OnOneProcessor() {
    is_over_ = true;
    other_.join();
    sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_{};
  std::atomic<bool> is_over_ = false;
  std::thread other_;
};

void works() {}
// Who waits looks for a moment before it gives the core away.
void waits() {
  constexpr std::uint64_t look_ns = 3'000;
  const std::uint64_t begin_ns = monotonic_ns();
  while (monotonic_ns() - begin_ns < look_ns) {
  }
  sched_yield();
}

TEST(OwnCore, IsWantedBySomebodyWithWork) {
  const OnOneProcessor other(works);
  OwnCore core;
  const std::uint64_t begin_ns = monotonic_ns();
  while (!core.is_wanted() && core.give_away(monotonic_ns()) - begin_ns < longest_ns) {
  }
  EXPECT_TRUE(core.is_wanted());
}

// Now and then somebody is away for long whoever has the core: most of the time is what counts.
TEST(OwnCore, IsWantedByWhoWaitsOnIt) {
  const OnOneProcessor other(waits);
  OwnCore core;
  constexpr int gifts = 20'000;
  int wanted = 0;
  for (int gift = 0; gift < gifts; ++gift) {
    core.give_away(monotonic_ns());
    wanted += core.is_wanted();
  }
  EXPECT_GT(wanted, gifts * 9 / 10);
}

// Others may be at work on this machine, but not always.
TEST(OwnCore, IsItsOwnWhereNobodyHasWork) {
  bool was_wanted = true;
  for (int attempt = 0; was_wanted && attempt < 1000; ++attempt) {
    OwnCore core;
    for (int gift = 0; gift < 3; ++gift) core.give_away(monotonic_ns());
    was_wanted = core.is_wanted();
  }
  EXPECT_FALSE(was_wanted);
}

// Who was away for a second is wanted; until the core was given back at once often enough.
TEST(OwnCore, IsNotWantedForever) {
  OwnCore core;
  core.give_away(monotonic_ns() - 1'000'000'000);
  EXPECT_TRUE(core.is_wanted());
  EXPECT_GE(core.away_ns(), 1'000'000'000U);
  const std::uint64_t begin_ns = monotonic_ns();
  std::uint32_t gifts = 0;
  for (; core.is_wanted() && monotonic_ns() - begin_ns < longest_ns; ++gifts) core.give_away(monotonic_ns());
  EXPECT_FALSE(core.is_wanted());
  EXPECT_GE(gifts, OwnCore::gifts_of_doubt);
  EXPECT_LT(core.away_ns(), 100'000'000U);
}

TEST(OwnCore, IsSharedForGood) {
  OwnCore core;
  EXPECT_FALSE(core.is_wanted());
  core.share();
  for (std::uint32_t gift = 0; gift < 4 * OwnCore::gifts_of_doubt; ++gift) {
    EXPECT_TRUE(core.is_wanted());
    core.give_away(monotonic_ns());
  }
}

}  // namespace
}  // namespace millrace::shared_memory::test
