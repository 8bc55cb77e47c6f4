#include "tools/busy.h"

#include <gtest/gtest.h>

namespace millrace::tools {
namespace {

constexpr const char* before = "cpu  100 0 50 850 0 0 0 0 7 0\ncpu0 50 0 25 425\ncpu1 50 0 25 425\nintr 9\n";

TEST(Busy, CountsProcessorsWorthOfWork) {
  // 200 more ticks on two processors, of which 50 idle.
  const auto busy = busy_between(before, "cpu  200 0 80 890 10 0 20 0 99 0\ncpu0 1\ncpu1 1\nintr 9\n");
  ASSERT_TRUE(busy);
  EXPECT_DOUBLE_EQ(*busy, 1.5);
  EXPECT_DOUBLE_EQ(busy_between(before, "cpu  100 0 50 950 0 0 0 0 0 0\ncpu0 1\n").value_or(-1), 0);
}

TEST(Busy, AStandStillTellsNothing) {
  EXPECT_FALSE(busy_between(before, before));
  EXPECT_FALSE(busy_between("", ""));
  EXPECT_FALSE(busy_between("", "intr 9\n"));
}

TEST(Busy, OnlyABusyMachineIsWorthAWord) {
  EXPECT_EQ(busy_warning(0.1), "");
  EXPECT_NE(busy_warning(1.5).find("1.5 processors busy"), std::string::npos);
}

}  // namespace
}  // namespace millrace::tools
