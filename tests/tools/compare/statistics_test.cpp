#include "tools/compare/statistics.h"

#include <gtest/gtest.h>

namespace millrace::tools {
namespace {

TEST(MedianInterval, HoldsTheMedianAsOftenAsItSays) {
  const Interval five = median_interval({5, 1, 3, 2, 4});
  EXPECT_DOUBLE_EQ(five.median, 3);
  EXPECT_DOUBLE_EQ(five.low, 1);
  EXPECT_DOUBLE_EQ(five.high, 5);
  EXPECT_DOUBLE_EQ(five.confidence, 1 - 2.0 / 32);  // unless all five are on one side
  // Of nine, the second and the eighth: 1 - 2 (1 + 9) / 512 = 0.961; the third would give 0.820.
  const Interval nine = median_interval({9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_DOUBLE_EQ(nine.low, 2);
  EXPECT_DOUBLE_EQ(nine.high, 8);
  EXPECT_DOUBLE_EQ(nine.confidence, 1 - 20.0 / 512);
  const Interval two = median_interval({1, 2});
  EXPECT_DOUBLE_EQ(two.median, 1.5);
  EXPECT_DOUBLE_EQ(two.confidence, 0.5);
  EXPECT_DOUBLE_EQ(median_interval({7}).confidence, 0);
}

TEST(JudgeSpeed, ADifferenceOnlyWhereTheIntervalsDoNotMeet) {
  const std::vector<double> slow{2.0, 2.1, 2.05, 2.02, 2.08}, fast{1.0, 1.1, 1.05, 1.02, 1.08};
  const SpeedVerdict faster = judge_speed(slow, fast);
  EXPECT_EQ(faster.speed, Speed::faster);
  EXPECT_DOUBLE_EQ(faster.ratio, 2.05 / 1.05);
  EXPECT_DOUBLE_EQ(faster.least_ratio, 2.0 / 1.1);
  EXPECT_DOUBLE_EQ(faster.most_ratio, 2.1 / 1.0);
  EXPECT_FALSE(faster.is_wide);
  EXPECT_EQ(judge_speed(fast, slow).speed, Speed::slower);
  // One run among the others' is enough for doubt.
  const std::vector<double> doubtful{1.0, 1.1, 1.05, 1.02, 2.01};
  EXPECT_EQ(judge_speed(slow, doubtful).speed, Speed::no_difference);
  EXPECT_TRUE(judge_speed(slow, doubtful).is_wide);
  EXPECT_EQ(judge_speed(slow, slow).speed, Speed::no_difference);
}

TEST(JudgeSpeed, FewRunsTellNothing) {
  EXPECT_EQ(judge_speed({2, 2, 2}, {1, 1, 1}).speed, Speed::too_few_runs);
  EXPECT_EQ(judge_speed({2, 2, 2, 2}, {1, 1, 1, 1}).speed, Speed::faster);
}

}  // namespace
}  // namespace millrace::tools
