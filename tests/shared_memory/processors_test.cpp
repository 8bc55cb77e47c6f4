#include "shared_memory/processors.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace millrace::shared_memory {
namespace {

Processors on(std::initializer_list<std::size_t> cpus) {
  Processors processors;
  for (const std::size_t cpu : cpus) processors.mask[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
  return processors;
}

bool suffice(const std::vector<Processors>& all) { return one_each(all); }

TEST(Processors, OfThisProcess) {
  int count = 0;
  for (const std::uint64_t word : own_processors().mask) count += __builtin_popcountll(word);
  EXPECT_GE(count, 1);
}

// What processes of two containers tell each other.
TEST(Processors, AreTheSameOnOneSystem) {
  const ProcessorSet set = processor_set(on({0, 1, 70}), "this run of the system");
  EXPECT_EQ(set.count, 3U);
  EXPECT_NE(set.name, 0U);
  EXPECT_EQ(set.name, processor_set(on({70, 1, 0}), "this run of the system").name);
  EXPECT_NE(set.name, processor_set(on({0, 1, 70}), "another").name);
  EXPECT_NE(set.name, processor_set(on({0, 1, 71}), "this run of the system").name);
  EXPECT_NE(set.name, processor_set(on({0, 1}), "this run of the system").name);
  EXPECT_EQ(processor_set(on({0, 1}), "").name, 0U);
}

TEST(Processors, OfThisProcessHaveAName) {
  const ProcessorSet set = own_processor_set();
  EXPECT_GE(set.count, 1U);
  EXPECT_NE(set.name, 0U);
  EXPECT_EQ(set.name, own_processor_set().name);
}

TEST(Processors, OneEachByCount) {
  EXPECT_TRUE(suffice({on({0, 1}), on({0, 1})}));
  EXPECT_FALSE(suffice({on({0, 1}), on({0, 1}), on({0, 1})}));
  EXPECT_TRUE(suffice({on({0}), on({70})}));
  EXPECT_FALSE(suffice({on({70}), on({70})}));
  EXPECT_FALSE(suffice({on({})}));
}

// The first takes what only the second can use; it has to move.
TEST(Processors, OneEachByMovingOthers) {
  EXPECT_TRUE(suffice({on({0, 1}), on({0})}));
  EXPECT_TRUE(suffice({on({0, 1}), on({0, 2}), on({0}), on({1, 5})}));
  EXPECT_FALSE(suffice({on({0, 1}), on({0, 1}), on({1}), on({2, 3})}));
}

TEST(Processors, AQuotaLimitsItsGroupOnly) {
  std::vector<Processors> all{on({0}), on({1}), on({2})};
  for (Processors& each : all) {
    each.quota_group = 7;
    each.quota_millicores = 3000;
  }
  EXPECT_TRUE(suffice(all));
  for (Processors& each : all) each.quota_millicores = 2500;
  EXPECT_FALSE(suffice(all));
  all[0].quota_group = 8;
  EXPECT_TRUE(suffice(all));
  all[0].quota_millicores = 500;
  EXPECT_FALSE(suffice(all));
}

}  // namespace
}  // namespace millrace::shared_memory
