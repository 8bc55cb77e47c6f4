#include "tools/bench/rank/budget.h"

#include <gtest/gtest.h>

#include <array>

namespace millrace::tools {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

// With so much for each of two points that is left.
Budget begun(double seconds) {
  Budget budget(static_cast<std::int64_t>(2 * seconds * second_ns), 2);
  EXPECT_TRUE(budget.begins(0));
  return budget;
}

TEST(BenchBudget, GivesAllWhereThereIsTime) {
  const turns::Pace pace = begun(1).pace({11, 100}, 100);  // 0.11 s
  EXPECT_EQ(pace.turns, 11);
  EXPECT_EQ(pace.calls, 100);
}

TEST(BenchBudget, TakesTurnsFirstThenCallsThenThePoint) {
  const turns::Pace fewer_turns = begun(1).pace({11, 100}, 2000);  // 0.2 s a turn, 1.5 s in all
  EXPECT_EQ(fewer_turns.turns, 7);
  EXPECT_EQ(fewer_turns.calls, 100);
  const turns::Pace fewer_calls = begun(1).pace({11, 100}, 10'000);
  EXPECT_EQ(fewer_calls.turns, 5);
  EXPECT_EQ(fewer_calls.calls, 30);
  const turns::Pace one_call = begun(1).pace({11, 3}, 1'000'000);  // 5 s, less than four shares
  EXPECT_EQ(one_call.turns, 5);
  EXPECT_EQ(one_call.calls, 1);
  EXPECT_EQ(begun(1).pace({11, 3}, 2'000'000).turns, 0);
}

TEST(BenchBudget, EndsInTime) {
  Budget budget(second_ns, 10);
  EXPECT_TRUE(budget.begins(second_ns - 1));
  EXPECT_FALSE(budget.begins(second_ns));
}

// The last points get time, too, though each takes all that it may.
TEST(BenchBudget, LeavesTimeForTheLast) {
  constexpr int points = 400;
  Budget budget(100 * second_ns, points);
  std::int64_t now_ns = 0;
  for (int point = 0; point < points; ++point) {
    ASSERT_TRUE(budget.begins(now_ns)) << point;
    const turns::Pace pace = budget.pace({1000, 1}, 1000);
    now_ns += static_cast<std::int64_t>(1'000'000) * pace.turns;
    if (point == points / 2) {
      EXPECT_GT(pace.turns, 100);
    }
    if (point == points - 10) {
      EXPECT_GE(pace.turns, 5);
    }
  }
  EXPECT_LT(now_ns, 101 * second_ns);
}

// Whatever the pace: ranks take five equal shares to meet, and each call has five sizes.
TEST(BenchBudget, LeavesOutSomeOfEachKindAndSize) {
  constexpr int points = 400, kinds = 4, sizes = 5;
  Budget budget(points * second_ns, points);
  std::array<int, kinds> of_kind{};
  std::array<int, sizes> of_size{};
  std::int64_t now_ns = 1;
  for (int point = 0; point < points; ++point) {
    if (!budget.begins(now_ns)) continue;
    now_ns += 5 * second_ns;
    ++of_kind[static_cast<std::size_t>(point * kinds / points)];
    ++of_size[static_cast<std::size_t>(point % sizes)];
  }
  for (const int measured : of_kind) EXPECT_GE(measured, 10);
  for (const int measured : of_size) EXPECT_GE(measured, 10);
  EXPECT_LT(now_ns, 410 * second_ns);
  EXPECT_GT(now_ns, 350 * second_ns) << "time is left";
}

}  // namespace
}  // namespace millrace::tools
