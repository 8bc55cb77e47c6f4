// A program with OpenMP of its own.
#include <gtest/gtest.h>
#include <omp.h>

#include <string>
#include <vector>

#include "millrace/millrace.h"

namespace {

TEST(InsideOpenMp, AParallelRegionHasNoRoomForMore) {
  millrace_use_threads(4, 1);
  EXPECT_EQ(millrace_threads(1000, nullptr), 4u);
  unsigned inside = 0;
  const char* why = "";
#pragma omp parallel num_threads(2)
#pragma omp single
  inside = millrace_threads(1000, &why);
  EXPECT_EQ(inside, 1u);
  EXPECT_EQ(std::string(why), "inside a parallel region of the program");
  millrace_use_threads(1, 0);
}

TEST(InsideOpenMp, EveryMemberOfATeamMayReduce) {
  millrace_use_threads(4, 1);
  constexpr std::size_t elements = 5001;
  const std::vector<int> in(elements, 2);
  int wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
  {
    std::vector<int> inout(elements, 3);
    for (int round = 0; round < 20; ++round)
      millrace_reduce(MILLRACE_SUM, MILLRACE_I32, in.data(), inout.data(), elements);
    for (const int value : inout) wrong += value != 43;
  }
  EXPECT_EQ(wrong, 0);
  millrace_use_threads(1, 0);
}

// The program's own limit, which is how users of hybrid programs say how many cores a rank has.
TEST(InsideOpenMp, TheProgramsLimitCounts) {
  millrace_use_threads(0, 1);
  omp_set_num_threads(1);
  EXPECT_EQ(millrace_threads(1000, nullptr), 1u);
  millrace_use_threads(1, 0);
}

}  // namespace
