// Which sizes are taken after they were measured.
#include "plan/measured_messages.h"

#include <gtest/gtest.h>

namespace millrace::plan {
namespace {

MessageRange range_of(const std::vector<double>& ratios) {
  std::vector<MeasuredSize> sizes;
  for (std::size_t i = 0; i < ratios.size(); ++i) sizes.push_back({std::int64_t{1024} << i, ratios[i]});
  return won_range(sizes);
}

void expect_none(const MessageRange& range) { EXPECT_LT(range.most_bytes, range.least_bytes); }

TEST(WonRange, NothingWonIsNothingTaken) {
  expect_none(range_of({}));
  expect_none(range_of({1.02, 1.02, 0.5, 1.0}));
}

TEST(WonRange, EndsAreWonAndNothingBetweenIsLost) {
  const MessageRange range = range_of({1.02, 1.03, 0.98, 1.5, 1.02});
  EXPECT_EQ(range.least_bytes, 2048);
  EXPECT_EQ(range.most_bytes, 8192);
}

TEST(WonRange, ALossBetweenTwoGainsKeepsTheLargerGain) {
  const MessageRange range = range_of({1.5, 1.5, 0.96, 4.0, 1.0});
  EXPECT_EQ(range.least_bytes, 8192);
  EXPECT_EQ(range.most_bytes, 8192);
  EXPECT_EQ(range_of({4.0, 1.5, 0.96, 4.0, 1.0}).least_bytes, 1024);
}

TEST(WonRange, TheLargestSizeHasNoLimitAbove) {
  const MessageRange range = range_of({0.5, 1.2, 1.1});
  EXPECT_EQ(range.least_bytes, 2048);
  EXPECT_EQ(range.most_bytes, any_size);
}

TEST(WonRange, TheSmallestSizeMeasuredStandsForAllBelow) {
  EXPECT_EQ(won_range({{64, 1.2}, {128, 1.0}}).least_bytes, 1);
  EXPECT_EQ(won_range({{64, 1.0}, {128, 1.2}}).least_bytes, 128);
}

}  // namespace
}  // namespace millrace::plan
