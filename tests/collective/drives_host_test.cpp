// Where ranks share a core, waits drive the host: brief ones now and then, long ones in every round.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "collective/collective.h"
#include "ranks.h"

namespace millrace::collective::test {
namespace {

int drives = 0;  // of this process

bool drive(void*) {
  ++drives;
  return true;
}

void share_one_processor() {
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  CPU_ZERO(&one);
  for (std::size_t processor = 0; CPU_COUNT(&one) == 0; ++processor)
    if (CPU_ISSET(processor, &all)) CPU_SET(processor, &one);
  sched_setaffinity(0, sizeof one, &one);
}

// In each call somebody waits at least for one turn of the other, and mostly for no more.
std::string brief_waits(Group& group) {
  constexpr int calls = 100'000;
  drives = 0;
  for (int call = 0; call < calls; ++call)
    if (const Result result = barrier(group); result != Result::ok) return result_name(result);
  if (drives < calls / 1024) return fmt::format("{} calls drove the host {} times", calls, drives);
  return drives > calls / 4 ? fmt::format("{} calls drove the host {} times", calls, drives) : "";
}

std::string a_long_wait(Group& group) {
  constexpr useconds_t longest_us = 50'000;
  if (group.rank() == 0) usleep(longest_us);
  drives = 0;
  if (const Result result = barrier(group); result != Result::ok) return result_name(result);
  return group.rank() == 1 && drives < 1000 ? fmt::format("a long wait drove the host {} times", drives) : "";
}

TEST(DrivesHost, WhereRanksShareACore) {
  RankSetup setup = ranks(2);
  setup.waiting = Waiting::yield;
  setup.progress = drive;
  EXPECT_EQ(run_all(setup,
                    [](Group& group) {
                      share_one_processor();
                      const std::string said = brief_waits(group);
                      return said.empty() ? a_long_wait(group) : said;
                    }),
            "");
}

}  // namespace
}  // namespace millrace::collective::test
