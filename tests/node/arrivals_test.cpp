#include "node/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

namespace millrace::node {
namespace {

struct Free {
  void operator()(char* memory) const { std::free(memory); }
};

constexpr std::uint64_t at_the_end = std::uint64_t{1} << 40;

// The ranks of a communicator, one object each, as their processes have them.
class Job {
 public:
  explicit Job(std::uint32_t ranks)
      : memory_(static_cast<char*>(std::aligned_alloc(64, Arrivals::bytes(ranks)))), visits_(ranks) {
    std::fill_n(memory_.get(), Arrivals::bytes(ranks), '\0');
    for (std::uint32_t rank = 0; rank < ranks; ++rank) ranks_.emplace_back(memory_.get(), rank, ranks);
  }
  Arrivals& operator[](std::uint32_t rank) { return ranks_[rank]; }

  void come(std::uint32_t rank, std::uint64_t call, std::uint64_t ticks) {
    visits_[rank] = {.call = call, .came_ticks = ticks, .left_ticks = ticks + at_the_end};
    ranks_[rank].come(call, ticks);
  }
  // Of the call to which it came last.
  Meeting meeting(std::uint32_t rank, WaitsFor waits = WaitsFor::all, std::uint32_t root = 0) {
    visits_[rank].waits = waits;
    visits_[rank].root = root;
    return ranks_[rank].meeting(visits_[rank]);
  }
  void leaves_at(std::uint32_t rank, std::uint64_t ticks) { visits_[rank].left_ticks = ticks; }

 private:
  std::unique_ptr<char, Free> memory_;
  std::vector<Arrivals> ranks_;
  std::vector<Visit> visits_;
};

TEST(Arrivals, AllWaitForTheLastOne) {
  Job job(3);
  job.come(1, 7, 100);
  job.come(0, 7, 130);
  job.come(2, 7, 200);
  EXPECT_EQ(job.meeting(0).wait_ticks, 70u);
  EXPECT_EQ(job.meeting(0).last_rank, 2u);
  EXPECT_EQ(job.meeting(1).wait_ticks, 100u);
  EXPECT_TRUE(job.meeting(1).is_first);
  EXPECT_FALSE(job.meeting(0).is_first);
  const Meeting last = job.meeting(2);
  EXPECT_TRUE(last.is_known);
  EXPECT_FALSE(last.is_first);
  EXPECT_EQ(last.wait_ticks, 0u);
}

TEST(Arrivals, WhoHasNotComeWasNotWaitedFor) {
  Job job(3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) job.come(rank, 1, 10);
  job.come(0, 2, 100);
  job.come(1, 2, 150);
  EXPECT_EQ(job.meeting(0).wait_ticks, 50u);
  EXPECT_TRUE(job.meeting(0).is_first);
  EXPECT_EQ(job.meeting(1).wait_ticks, 0u) << "the other one is still to come";
}

TEST(Arrivals, WhoCameAfterTheEndWasNotWaitedFor) {
  Job job(2);
  job.come(0, 1, 100);
  job.leaves_at(0, 120);
  job.come(1, 1, 900);
  EXPECT_TRUE(job.meeting(0).is_known);
  EXPECT_EQ(job.meeting(0).wait_ticks, 0u);
  EXPECT_FALSE(job.meeting(0).is_first);
}

TEST(Arrivals, ACallIsLookedAtAfterLaterOnes) {
  Job job(2);
  for (std::uint64_t call = 1; call <= 100; ++call) {
    job[0].come(call, 1000 * call);
    job[1].come(call, 1000 * call + call);
  }
  for (std::uint64_t call = 1; call <= 100; ++call) {
    const Visit visit{.call = call, .came_ticks = 1000 * call, .left_ticks = 1000 * call + 500};
    EXPECT_EQ(job[0].meeting(visit).wait_ticks, call);
  }
}

TEST(Arrivals, OneRankCountsWhoCameLast) {
  Job job(4);
  for (const std::uint32_t rank : {0u, 1u, 2u}) job.come(rank, 1, 50);
  job.come(3, 1, 60);
  EXPECT_TRUE(job.meeting(0).is_first) << "of those that came at the same moment the lowest";
  EXPECT_FALSE(job.meeting(1).is_first);
  EXPECT_FALSE(job.meeting(2).is_first);
  EXPECT_EQ(job.meeting(1).wait_ticks, 10u);
}

TEST(Arrivals, ReceiversOfABroadcastWaitForItsRootAlone) {
  Job job(3);
  job.come(2, 1, 10);
  job.come(1, 1, 60);
  job.come(0, 1, 900);
  EXPECT_EQ(job.meeting(2, WaitsFor::root, 1).wait_ticks, 50u);
  EXPECT_EQ(job.meeting(2, WaitsFor::root, 1).last_rank, 1u);
  EXPECT_TRUE(job.meeting(2, WaitsFor::root, 1).is_first);
  EXPECT_EQ(job.meeting(1, WaitsFor::root, 1).wait_ticks, 0u) << "nobody waits for a receiver";
  EXPECT_EQ(job.meeting(0, WaitsFor::root, 1).wait_ticks, 0u);
}

TEST(Arrivals, TheRootOfAReductionWaitsForAll) {
  Job job(3);
  job.come(0, 1, 10);
  job.come(2, 1, 90);
  job.come(1, 1, 30);
  const Meeting root = job.meeting(0, WaitsFor::root_for_all, 0);
  EXPECT_EQ(root.wait_ticks, 80u);
  EXPECT_EQ(root.last_rank, 2u);
  EXPECT_TRUE(root.is_first) << "nobody else waits";
  EXPECT_TRUE(job.meeting(1, WaitsFor::root_for_all, 0).is_known);
  EXPECT_EQ(job.meeting(1, WaitsFor::root_for_all, 0).wait_ticks, 0u);
}

TEST(Arrivals, AScanWaitsForLowerRanks) {
  Job job(4);
  job.come(0, 1, 5);
  job.come(3, 1, 20);
  job.come(2, 1, 10);
  job.come(1, 1, 50);
  EXPECT_EQ(job.meeting(2, WaitsFor::lower_ranks).wait_ticks, 40u);
  EXPECT_EQ(job.meeting(2, WaitsFor::lower_ranks).last_rank, 1u);
  EXPECT_TRUE(job.meeting(2, WaitsFor::lower_ranks).is_first) << "rank 0 was there before, and waits for nobody";
  EXPECT_EQ(job.meeting(3, WaitsFor::lower_ranks).wait_ticks, 30u);
  EXPECT_FALSE(job.meeting(3, WaitsFor::lower_ranks).is_first);
  EXPECT_EQ(job.meeting(0, WaitsFor::lower_ranks).wait_ticks, 0u);
}

TEST(Arrivals, NothingIsSaidOfACallThatARankNoLongerKnows) {
  Job job(2);
  job.come(0, 5, 10);
  job.come(1, 5, 20);
  job.come(1, 5 + Arrivals::most_stamps, 90);  // in the same place
  EXPECT_FALSE(job.meeting(0).is_known);
  EXPECT_FALSE(job.meeting(0, WaitsFor::root, 1).is_known);
}

TEST(Arrivals, NothingIsSaidWithARankThatSaysNothing) {
  Job job(2);
  job.come(0, 1, 10);
  job[1].withdraw();
  EXPECT_FALSE(job.meeting(0).is_known);
  job.come(1, 1, 30);
  EXPECT_TRUE(job.meeting(0).is_known) << "what it has said before it withdrew stays";
}

TEST(Arrivals, TimesAndLapsMayRunOver) {
  const std::uint64_t late_call = (std::uint64_t{1} << 23) * 128 + 3, end_ticks = std::uint64_t{1} << 48;
  Job job(2);
  job.come(0, late_call, end_ticks - 10);
  job.come(1, late_call, end_ticks + 15);
  EXPECT_EQ(job.meeting(0).wait_ticks, 25u);
  EXPECT_EQ(job.meeting(1).wait_ticks, 0u);
}

TEST(Arrivals, ARankOutsideIsNoRoot) {
  Job job(2);
  job.come(0, 1, 1);
  job.come(1, 1, 1);
  EXPECT_FALSE(job.meeting(0, WaitsFor::root, 2).is_known);
}

}  // namespace
}  // namespace millrace::node
