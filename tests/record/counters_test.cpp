#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "record/snapshot.h"
#include "record/thread_block.h"

namespace millrace::record {
namespace {

std::uint64_t calls(const EntrySnapshot& entry) {
  return std::accumulate(entry.outcome.begin(), entry.outcome.end(), std::uint64_t{0});
}

std::size_t blocks() {
  std::size_t count = 0;
  for (const ThreadBlock* block = first_block(); block; block = block->next) ++count;
  return count;
}

class Counters : public ::testing::Test {
 protected:
  void SetUp() override {
    reset();
    threads_before = snapshot().threads;
  }
  std::uint64_t threads_before = 0;
};

TEST_F(Counters, AreZeroAtFirst) {
  const Snapshot counted = snapshot();
  EXPECT_TRUE(counted.entries.empty());
  EXPECT_TRUE(counted.pairs.empty());
  EXPECT_EQ(counted.lost_calls, 0u);
}

TEST_F(Counters, SeparateEntriesOutcomesAndAlgorithms) {
  add_call(7, 100, 10, no_algorithm, Reason::not_accelerated);
  add_call(7, 50, 5, no_algorithm, Reason::type_not_covered);
  add_call(3, 8, 2, 11, Reason::none);
  add_call(3, 8, 2, 12, Reason::none);
  add_call(3, 16, 3, 11, Reason::none);
  add_call(max_entries - 1, 1, 1, 11, Reason::none);
  const Snapshot counted = snapshot();
  ASSERT_EQ(counted.entries.size(), 3u);
  EXPECT_EQ(counted.entries[0].entry, 3);
  EXPECT_EQ(counted.entries[0].bytes, 32u);
  EXPECT_EQ(counted.entries[0].ticks, 7u);
  EXPECT_EQ(counted.entries[0].outcome[0], 3u);
  EXPECT_EQ(counted.entries[1].entry, 7);
  EXPECT_EQ(counted.entries[1].bytes, 150u);
  EXPECT_EQ(counted.entries[1].outcome[static_cast<std::size_t>(Reason::not_accelerated)], 1u);
  EXPECT_EQ(counted.entries[1].outcome[static_cast<std::size_t>(Reason::type_not_covered)], 1u);
  EXPECT_EQ(counted.entries[2].entry, max_entries - 1);
  ASSERT_EQ(counted.pairs.size(), 3u);
  EXPECT_EQ(counted.pairs[0].algorithm, 11);
  EXPECT_EQ(counted.pairs[0].calls, 2u);
  EXPECT_EQ(counted.pairs[0].bytes, 24u);
  EXPECT_EQ(counted.pairs[0].ticks, 5u);
  EXPECT_EQ(counted.pairs[1].algorithm, 12);
  EXPECT_EQ(counted.pairs[2].entry, max_entries - 1);
}

TEST_F(Counters, SeparateSizes) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t own : {0u, 1u, 2u, 3u, 4u, 7u, 8u, 65535u, 65536u}) {
    add_call(5, own, 2, no_algorithm, Reason::not_accelerated);
    bytes += own;
  }
  add_call(5, 65537, 5, 11, Reason::none);
  add_call(5, ~std::uint64_t{0} >> 1, 1, no_algorithm, Reason::not_accelerated);
  const Snapshot counted = snapshot();
  ASSERT_EQ(counted.entries.size(), 1u);
  const EntrySnapshot& entry = counted.entries[0];
  EXPECT_EQ(entry.bytes, bytes + 65537 + (~std::uint64_t{0} >> 1));
  EXPECT_EQ(entry.ticks, 24u);
  const std::vector<std::array<std::uint64_t, 4>> expected = {
      // from, calls, taken, ticks
      {0, 1, 0, 2}, {1, 1, 0, 2},     {2, 2, 0, 4},     {4, 2, 0, 4},
      {8, 1, 0, 2}, {32768, 1, 0, 2}, {65536, 2, 1, 7}, {std::uint64_t{1} << 46, 1, 0, 1}};
  ASSERT_EQ(entry.sizes.size(), expected.size());
  for (std::size_t index = 0; index < expected.size(); ++index) {
    const SizeSnapshot& size = entry.sizes[index];
    EXPECT_EQ(least_bytes_of(size.size_class), expected[index][0]);
    EXPECT_EQ(size.calls, expected[index][1]) << index;
    EXPECT_EQ(size.taken, expected[index][2]) << index;
    EXPECT_EQ(size.ticks, expected[index][3]) << index;
  }
  EXPECT_EQ(entry.sizes[6].bytes, 65536u + 65537u);
}

TEST_F(Counters, OfManyThreadsAddUpExactly) {
  constexpr std::size_t thread_total = 16;
  constexpr std::uint64_t rounds = 20'000;
  std::vector<std::thread> threads;
  for (std::size_t index = 0; index < thread_total; ++index) {
    threads.emplace_back([index] {
      for (std::uint64_t round = 0; round < rounds; ++round) {
        add_call(1, 3, 2, no_algorithm, Reason::not_accelerated);
        add_call(static_cast<std::uint16_t>(100 + index), 1, 1, static_cast<std::uint16_t>(round % 40), Reason::none);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Snapshot counted = snapshot();
  ASSERT_EQ(counted.entries.size(), 1 + thread_total);
  EXPECT_EQ(calls(counted.entries[0]), thread_total * rounds);
  EXPECT_EQ(counted.entries[0].bytes, 3 * thread_total * rounds);
  EXPECT_EQ(counted.entries[0].ticks, 2 * thread_total * rounds);
  ASSERT_EQ(counted.pairs.size(), thread_total * 40);
  for (const PairSnapshot& pair : counted.pairs) EXPECT_EQ(pair.calls, rounds / 40);
  EXPECT_EQ(counted.threads - threads_before, thread_total);
}

TEST_F(Counters, CanBeReadWhileTheyGrow) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int index = 0; index < 3; ++index)
    threads.emplace_back([&stop] {
      while (!stop.load()) add_call(5, 1, 1, 9, Reason::none);
    });
  std::uint64_t last = 0;
  for (int round = 0; round < 200; ++round) {
    const Snapshot counted = snapshot();
    const std::uint64_t now = counted.entries.empty() ? 0 : calls(counted.entries[0]);
    EXPECT_GE(now, last);
    last = now;
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Counters, SurviveTheirThreadAndItsBlockIsUsedAgain) {
  const std::size_t blocks_before = blocks();
  for (int round = 0; round < 1000; ++round) std::thread([] { add_call(2, 4, 1, 6, Reason::none); }).join();
  const Snapshot counted = snapshot();
  ASSERT_EQ(counted.entries.size(), 1u);
  EXPECT_EQ(calls(counted.entries[0]), 1000u);
  EXPECT_EQ(counted.pairs.at(0).calls, 1000u);
  EXPECT_EQ(counted.threads - threads_before, 1000u);
  EXPECT_LE(blocks(), blocks_before + 1);
}

TEST_F(Counters, KeepCountingWhenThereAreMorePairsThanSlots) {
  constexpr std::uint16_t algorithms = max_algorithms;
  for (std::uint16_t algorithm = 0; algorithm < algorithms; ++algorithm) add_call(4, 1, 1, algorithm, Reason::none);
  const Snapshot counted = snapshot();
  EXPECT_EQ(calls(counted.entries.at(0)), algorithms);
  EXPECT_GT(counted.pairs.size(), 500u);
  EXPECT_LT(counted.pairs.size(), algorithms);
  for (const PairSnapshot& pair : counted.pairs) EXPECT_EQ(pair.calls, 1u);
}

TEST_F(Counters, OfUnknownEntriesAreLostNotMisplaced) {
  add_call(max_entries, 1, 1, no_algorithm, Reason::not_accelerated);
  add_call(0, 1, 1, no_algorithm, Reason::count_of_reasons);
  const Snapshot counted = snapshot();
  EXPECT_TRUE(counted.entries.empty());
  EXPECT_EQ(counted.lost_calls, 2u);
}

TEST(Reasons, HaveNamesAndWords) {
  for (std::size_t reason = 0; reason < reason_count; ++reason) {
    EXPECT_STRNE(reason_name(static_cast<Reason>(reason)), "unknown");
    EXPECT_STRNE(reason_text(static_cast<Reason>(reason)), "unknown");
  }
  EXPECT_STREQ(reason_name(Reason::large_count), "large_count");
  EXPECT_STREQ(reason_name(Reason::count_of_reasons), "unknown");
}

}  // namespace
}  // namespace millrace::record
