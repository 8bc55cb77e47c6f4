#include "node/arrivals.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace millrace::node {
namespace {

struct Free {
  void operator()(char* memory) const { std::free(memory); }
};

// The ranks of a communicator, one object each, as their processes have them.
class Job {
 public:
  explicit Job(std::uint32_t ranks) : memory_(static_cast<char*>(std::aligned_alloc(64, Arrivals::bytes(ranks)))) {
    std::fill_n(memory_.get(), Arrivals::bytes(ranks), '\0');
    for (std::uint32_t rank = 0; rank < ranks; ++rank) ranks_.emplace_back(memory_.get(), rank, ranks);
  }
  Arrivals& operator[](std::uint32_t rank) { return ranks_[rank]; }

 private:
  std::unique_ptr<char, Free> memory_;
  std::vector<Arrivals> ranks_;
};

constexpr auto all = WaitsFor::all;

TEST(Arrivals, AllWaitForTheLastOne) {
  Job job(3);
  job[1].come(7, 100);
  job[0].come(7, 130);
  job[2].come(7, 200);
  EXPECT_EQ(job[0].leave(all, 0).wait_ns, 70u);
  EXPECT_EQ(job[0].leave(all, 0).last_rank, 2u);
  EXPECT_EQ(job[1].leave(all, 0).wait_ns, 100u);
  EXPECT_FALSE(job[1].leave(all, 0).is_late);
  const Meeting last = job[2].leave(all, 0);
  EXPECT_TRUE(last.is_known);
  EXPECT_TRUE(last.is_late);
  EXPECT_EQ(last.wait_ns, 0u);
}

TEST(Arrivals, WhoHasNotComeWasNotWaitedFor) {
  Job job(3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) job[rank].come(1, 10);
  job[0].come(2, 100);
  job[1].come(2, 150);
  EXPECT_EQ(job[0].leave(all, 0).wait_ns, 50u);
  EXPECT_FALSE(job[1].leave(all, 0).is_late) << "another one is still to come";
}

TEST(Arrivals, OfAMomentTheLowestRankIsTheLast) {
  Job job(2);
  job[0].come(1, 50);
  job[1].come(1, 50);
  EXPECT_EQ(job[0].leave(all, 0).is_late + job[1].leave(all, 0).is_late, 1);
  EXPECT_EQ(job[1].leave(all, 0).wait_ns, 0u);
}

TEST(Arrivals, ReceiversOfABroadcastWaitForItsRootAlone) {
  Job job(3);
  job[2].come(1, 10);
  job[1].come(1, 60);
  job[0].come(1, 900);
  EXPECT_EQ(job[2].leave(WaitsFor::root, 1).wait_ns, 50u);
  EXPECT_EQ(job[2].leave(WaitsFor::root, 1).last_rank, 1u);
  EXPECT_TRUE(job[1].leave(WaitsFor::root, 1).is_late);
  EXPECT_EQ(job[0].leave(WaitsFor::root, 1).wait_ns, 0u);
  EXPECT_FALSE(job[0].leave(WaitsFor::root, 1).is_late) << "nobody waits for a receiver";
}

TEST(Arrivals, TheRootOfAReductionWaitsForAll) {
  Job job(3);
  job[0].come(1, 10);
  job[2].come(1, 90);
  job[1].come(1, 30);
  const Meeting root = job[0].leave(WaitsFor::root_for_all, 0);
  EXPECT_EQ(root.wait_ns, 80u);
  EXPECT_EQ(root.last_rank, 2u);
  EXPECT_TRUE(job[1].leave(WaitsFor::root_for_all, 0).is_known);
  EXPECT_EQ(job[1].leave(WaitsFor::root_for_all, 0).wait_ns, 0u);
}

TEST(Arrivals, AScanWaitsForLowerRanks) {
  Job job(3);
  job[2].come(1, 10);
  job[0].come(1, 20);
  job[1].come(1, 50);
  EXPECT_EQ(job[2].leave(WaitsFor::lower_ranks, 0).wait_ns, 40u);
  EXPECT_TRUE(job[1].leave(WaitsFor::lower_ranks, 0).is_late);
  EXPECT_EQ(job[0].leave(WaitsFor::lower_ranks, 0).wait_ns, 0u);
  EXPECT_TRUE(job[0].leave(WaitsFor::lower_ranks, 0).is_late) << "rank 2 was there before";
}

TEST(Arrivals, NothingIsSaidOfACallThatARankNoLongerKnows) {
  Job job(2);
  job[0].come(5, 10);
  job[1].come(5, 20);
  job[1].come(5 + 128, 90);  // in the same place
  EXPECT_FALSE(job[0].leave(all, 0).is_known);
  EXPECT_FALSE(job[0].leave(WaitsFor::root, 1).is_known);
}

TEST(Arrivals, NothingIsSaidWithARankThatSaysNothing) {
  Job job(2);
  job[0].come(1, 10);
  job[1].withdraw();
  EXPECT_FALSE(job[0].leave(all, 0).is_known);
  job[1].come(1, 30);
  EXPECT_TRUE(job[0].leave(all, 0).is_known) << "what it has said before it withdrew stays";
}

TEST(Arrivals, TimesAndLapsMayRunOver) {
  const std::uint64_t late_call = (std::uint64_t{1} << 23) * 128 + 3, end_ns = std::uint64_t{1} << 48;
  Job job(2);
  job[0].come(late_call, end_ns - 10);
  job[1].come(late_call, end_ns + 15);
  EXPECT_EQ(job[0].leave(all, 0).wait_ns, 25u);
  EXPECT_TRUE(job[1].leave(all, 0).is_late);
}

TEST(Arrivals, ARankOutsideIsNoRoot) {
  Job job(2);
  job[0].come(1, 1);
  job[1].come(1, 1);
  EXPECT_FALSE(job[0].leave(WaitsFor::root, 2).is_known);
}

}  // namespace
}  // namespace millrace::node
