// The same over several nodes, whose clocks have nothing to do with each other (evidence_job.h).
#include <gtest/gtest.h>

#include "evidence_job.h"

namespace millrace::plan::test {
namespace {

TEST(EvidenceOverNodes, TheFasterSideIsFoundOverNodesWhoseClocksDiffer) {
  const EitherCall calls[] = {{Kind::allreduce, 2, 8}, {Kind::allgather, 0, 1 << 16}, {Kind::alltoall, 0, 4096}};
  for (const EitherCall& call : calls)
    for (const Side standard : {Side::ours, Side::host})
      for (const std::uint32_t nodes : {2u, 3u}) {
        Job job(6, 11, 1e9, nodes);
        job.weather = {0.1, 0, 0, 30'000};
        job.compute_ns = 50'000;
        const Speed speed = standard == Side::ours ? Speed{20'000, 10'000} : Speed{10'000, 20'000};
        Side side = standard;
        for (int i = 0; i < 1500; ++i) {
          side = job.call(call, standard, speed);
          job.fixed_call(Kind::barrier);
        }
        EXPECT_EQ(side, other(standard)) << collective::kind_name(call.kind) << ' ' << nodes;
        EXPECT_EQ(job.parted, 0u);
        EXPECT_FALSE(job.is_closed());
      }
}

// All of the waiting is on the node whose clock is ahead.
TEST(EvidenceOverNodes, TheNodeThatCameLastTellsTheCost) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Job job(6, seed, 1e9, 2);
    job.weather.first_node_late_ns = 400'000;
    std::uint32_t until = 0;
    for (; until < 300 && job.changes == 0; ++until) job.call({Kind::allreduce, 2, 8}, Side::ours, {20'000, 10'000});
    EXPECT_LT(until, 100u) << seed;
  }
}

TEST(EvidenceOverNodes, NothingIsDecidedWhereARootMayLeave) {
  Job job(4, 14, 1e9, 2);
  for (int i = 0; i < 500; ++i) job.call({Kind::bcast, 0, 64, 1}, Side::ours, {20'000, 1'000});
  EXPECT_EQ(job.decisions, 0u);
  job.fixed_call(Kind::barrier);
  EXPECT_EQ(job.decisions, 1u);
}

// Who makes no others pays for the look at what is due once, and not in each of them.
TEST(EvidenceOverNodes, CallsAreAsBeforeWhereNothingIsDueUntilRanksMeet) {
  for (const bool over_nodes : {false, true}) {
    Evidence evidence(false, over_nodes);
    EvidenceRecord record;
    const std::uint64_t epoch = evidence.epoch();
    std::uint32_t as_before = 0, reports = 0;
    for (int call = 0; call < 40; ++call) {
      if (evidence.begin_as_before(epoch, false)) {
        ++as_before;
        continue;
      }
      const Evidence::Due due = evidence.begin(false);
      if (due.report) evidence.report(record), ++reports;
      EXPECT_FALSE(due.decision);
    }
    EXPECT_EQ(evidence.turn(), 40u);
    EXPECT_EQ(reports, 1u);
    EXPECT_EQ(as_before, over_nodes ? 27u : 7u);  // the window is of calls 8 to 19, the report in call 20
    EXPECT_FALSE(evidence.begin_as_before(epoch, true));
    const Evidence::Due due = evidence.begin(true);
    EXPECT_TRUE(due.decision && !due.report);
  }
}

// Each decision is a step over the wire.
TEST(EvidenceOverNodes, WhatCannotChangeIsSoonLeftInPeace) {
  Job job(4, 15, 1e9, 2);
  for (int i = 0; i < 50'000; ++i) {
    job.call({Kind::bcast, 0, 64, 1}, Side::ours, {20'000, 1'000});
    job.fixed_call(Kind::barrier);
  }
  EXPECT_LT(job.decisions, 40u);
}

TEST(EvidenceOverNodes, LateRanksAreNobodysFault) {
  Job job(6, 12, 1e9, 2);
  job.weather = {0.05, 0, 0, 1e6};
  for (int i = 0; i < 3000; ++i) job.call({Kind::allreduce, 2, 8}, Side::ours, {10'000, 11'000});
  EXPECT_EQ(job.changes, 0u);
}

// The time of a root's call says little of what it costs the others, and who waits for it is not known there.
TEST(EvidenceOverNodes, CallsWithARootStayWhereTheyAre) {
  Job job(4, 13, 1e9, 2);
  for (int i = 0; i < 3000; ++i) {
    EXPECT_EQ(job.call({Kind::bcast, 0, 64, 1}, Side::ours, {20'000, 1'000}), Side::ours);
    job.fixed_call(Kind::barrier);
  }
  EXPECT_GT(job.decisions, 0u);
  EXPECT_EQ(job.tries, 0u);
}

}  // namespace
}  // namespace millrace::plan::test
