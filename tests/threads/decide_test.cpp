#include "threads/decide.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::threads {
namespace {

// A rank alone on eight idle cores.
Facts alone() {
  Facts facts;
  facts.openmp = OpenMp::loadable;
  facts.cores = 8;
  facts.local_ranks = 1;
  facts.sharing_ranks = 1;
  facts.busy_threads = 0;
  facts.idle_processors = 7;
  return facts;
}

TeamDecision automatic(const Facts& facts) { return decide({}, facts); }

TEST(Decide, ARankAloneUsesEveryIdleCoreItMayRunOn) {
  EXPECT_EQ(automatic(alone()).threads, 8u);
  EXPECT_STREQ(automatic(alone()).why, "every core of this rank is idle");
}

TEST(Decide, WhatIsNotKnownMeansOneThread) {
  for (const auto forget :
       {+[](Facts& f) { f.cores = 0; }, +[](Facts& f) { f.local_ranks = 0; }, +[](Facts& f) { f.sharing_ranks = 0; },
        +[](Facts& f) { f.busy_threads = -1; }, +[](Facts& f) { f.idle_processors = -1; }}) {
    Facts facts = alone();
    forget(facts);
    EXPECT_EQ(automatic(facts).threads, 1u);
    EXPECT_NE(std::string(automatic(facts).why).find("not known"), std::string::npos);
  }
}

TEST(Decide, ARankPerCoreMeansOneThread) {
  Facts facts = alone();
  facts.local_ranks = facts.sharing_ranks = 8;
  EXPECT_EQ(automatic(facts).threads, 1u);
  facts.sharing_ranks = 3;  // two each; what is left over belongs to nobody
  EXPECT_EQ(automatic(facts).threads, 2u);
  facts.sharing_ranks = 1;  // bound to eight cores each
  EXPECT_EQ(automatic(facts).threads, 8u);
  facts.sharing_ranks = 100;
  EXPECT_EQ(automatic(facts).threads, 1u);
}

TEST(Decide, TheQuotaIsSharedByTheRanksOfTheNode) {
  Facts facts = alone();
  facts.quota_cpus = 4.9;
  EXPECT_EQ(automatic(facts).threads, 4u);
  facts.local_ranks = 2;
  EXPECT_EQ(automatic(facts).threads, 2u);
  facts.quota_cpus = 1.5;
  EXPECT_EQ(automatic(facts).threads, 1u);
  facts.quota_cpus = 1e300;
  EXPECT_EQ(automatic(facts).threads, 8u);
}

TEST(Decide, CoresThatOthersUseAreLeftToThem) {
  Facts facts = alone();
  facts.busy_threads = 5;
  EXPECT_EQ(automatic(facts).threads, 3u);
  facts.busy_threads = 500;
  EXPECT_EQ(automatic(facts).threads, 1u);
  facts.busy_threads = 0;
  facts.idle_processors = 1;
  EXPECT_EQ(automatic(facts).threads, 2u);
  facts.idle_processors = 0;
  EXPECT_EQ(automatic(facts).threads, 1u);
}

TEST(Decide, TheProgramsOpenMpLimitIsKept) {
  Facts facts = alone();
  facts.openmp = OpenMp::present;
  facts.openmp_threads = 3;
  EXPECT_EQ(automatic(facts).threads, 3u);
  facts.openmp_threads = 1;
  EXPECT_EQ(automatic(facts).threads, 1u);
}

TEST(Decide, ANumberAskedForOverrulesCoresAndLoad) {
  Facts facts = alone();
  facts.cores = 1;
  facts.local_ranks = facts.sharing_ranks = 0;
  facts.busy_threads = 12;
  facts.idle_processors = 0;
  facts.quota_cpus = 0.5;
  EXPECT_EQ(decide({5, 0, false}, facts).threads, 5u);
  EXPECT_EQ(decide({1, 0, false}, alone()).threads, 1u);
  EXPECT_EQ(decide({100000, 0, false}, facts).threads, 1024u);
}

TEST(Decide, WhatIsUnsafeIsNotDoneEvenIfAskedFor) {
  for (const unsigned wanted : {0u, 4u}) {
    EXPECT_EQ(decide({wanted, 0, true}, alone()).threads, 1u);
    Facts facts = alone();
    facts.is_in_parallel_region = true;
    EXPECT_EQ(decide({wanted, 0, false}, facts).threads, 1u);
    for (const OpenMp openmp : {OpenMp::none, OpenMp::would_bind, OpenMp::foreign}) {
      facts = alone();
      facts.openmp = openmp;
      EXPECT_EQ(decide({wanted, 0, false}, facts).threads, 1u);
    }
  }
}

}  // namespace
}  // namespace millrace::threads
