#include "record/phases.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "record/phases_report.h"
#include "record/rank_record.h"
#include "record/record.h"

namespace millrace::record {
namespace {

constexpr std::uint64_t start = 1'000'000'000;
constexpr double ns_per_tick = 1;

void call(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes = 0) {
  add_call(3, bytes, end - begin, no_algorithm, Reason::not_accelerated, end);
}

PhaseSlice sum_of(const Phases& phases, std::size_t first = 0, std::size_t last = phase_slices) {
  PhaseSlice sum;
  for (std::size_t slice = first; slice < last; ++slice) {
    sum.calls += phases.slices[slice].calls;
    sum.bytes += phases.slices[slice].bytes;
    sum.time_ns += phases.slices[slice].time_ns;
  }
  return sum;
}

TEST(Phases, AreNoneBeforeTheStart) {
  reset();
  call(start, start + 10);
  EXPECT_EQ(phases_until_now(start + 100, 1), Phases{});
  reset();
}

TEST(Phases, TellTheBusyHalfFromTheOther) {
  reset();
  start_phases(start);
  constexpr std::uint64_t wall = 6'400'000'000;
  // Calls of 100 us, back to back for the first half, then one every 10 ms.
  for (std::uint64_t at = 0; at < wall / 2; at += 100'000) call(start + at, start + at + 100'000, 8);
  for (std::uint64_t at = wall / 2; at < wall; at += 10'000'000) call(start + at, start + at + 100'000, 1000);
  const Phases phases = phases_until_now(start + wall, ns_per_tick);
  ASSERT_EQ(phases.slices.size(), phase_slices);
  EXPECT_EQ(phases.wall_ns, wall);
  const double slice_ns = static_cast<double>(wall) / phase_slices;
  for (std::size_t slice = 0; slice < phase_slices; ++slice) {
    const double share = static_cast<double>(phases.slices[slice].time_ns) / slice_ns;
    if (slice + 2 >= phase_slices / 2 && slice < phase_slices / 2 + 2) continue;  // a thread's own slices are longer
    EXPECT_NEAR(share, slice < phase_slices / 2 ? 1 : 0.01, 0.02) << slice;
    EXPECT_NEAR(static_cast<double>(phases.slices[slice].calls), slice < phase_slices / 2 ? 1000 : 10, 20) << slice;
  }
  const PhaseSlice sum = sum_of(phases);
  EXPECT_EQ(sum.calls, 32000u + 320);
  EXPECT_EQ(sum.bytes, 32000u * 8 + 320 * 1000);
  EXPECT_EQ(sum.time_ns, (32000u + 320) * 100'000);
  reset();
}

TEST(Phases, HaveTheTimeOfALongCallWhereItWasSpent) {
  reset();
  start_phases(start);
  constexpr std::uint64_t wall = 640'000'000;
  call(start + wall / 4, start + wall * 3 / 4);
  const Phases phases = phases_until_now(start + wall, ns_per_tick);
  ASSERT_EQ(phases.slices.size(), phase_slices);
  for (std::size_t slice = 0; slice < phase_slices; ++slice) {
    const bool is_inside = slice >= phase_slices / 4 && slice < phase_slices * 3 / 4;
    const bool is_at_border = slice == phase_slices / 4 - 1 || slice == phase_slices / 4 ||
                              slice == phase_slices * 3 / 4 - 1 || slice == phase_slices * 3 / 4;
    if (is_at_border) continue;
    EXPECT_NEAR(static_cast<double>(phases.slices[slice].time_ns), is_inside ? 1e7 : 0, 1e4) << slice;
  }
  EXPECT_EQ(sum_of(phases).time_ns, wall / 2);
  reset();
}

TEST(Phases, LeaveOutWhatWasBeforeTheStart) {
  reset();
  call(start - 900'000'000, start - 500'000'000, 5);  // the clock does not run yet
  start_phases(start);
  call(start - 200'000'000, start + 1000, 7);  // MPI_Init
  call(start + 500'000'000, start + 600'000'000, 11);
  const Phases phases = phases_until_now(start + 1'000'000'000, ns_per_tick);
  const PhaseSlice sum = sum_of(phases);
  EXPECT_EQ(sum.time_ns, 100'000'000u + 1000);
  EXPECT_EQ(sum.calls, 2u);
  EXPECT_EQ(sum.bytes, 18u);
  reset();
}

TEST(Phases, OfThreadsThatComeLateAreAddedUp) {
  reset();
  start_phases(start);
  constexpr std::uint64_t wall = 640'000'000;
  call(start, start + wall / 2);
  std::thread([] { call(start + wall / 2, start + wall * 3 / 4); }).join();
  std::thread([] { call(start + wall * 3 / 4, start + wall); }).join();  // takes the counters of the one before
  const Phases phases = phases_until_now(start + wall, ns_per_tick);
  EXPECT_NEAR(static_cast<double>(sum_of(phases, 0, 30).time_ns), 3e8, 1e6);
  EXPECT_NEAR(static_cast<double>(sum_of(phases, 34).time_ns), 3e8, 1e6);
  reset();
}

TEST(Phases, LoseNothingHoweverCallsCome) {
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 200; ++turn) {
    reset();
    start_phases(start);
    std::uint64_t now = start, inside = 0, calls = 0, bytes = 0;
    const std::uint64_t longest = std::uint64_t{1} << (5 + random() % 30);
    for (std::uint64_t left = 1 + random() % 300; left > 0; --left) {
      const std::uint64_t begin = now + random() % longest, size = random() % 100;
      now = begin + 1 + random() % longest;
      call(begin, now, size);
      inside += now - begin;
      calls += 1;
      bytes += size;
    }
    const Phases phases = phases_until_now(now + random() % longest + 1, ns_per_tick);
    ASSERT_EQ(phases.slices.size(), phase_slices);
    const PhaseSlice sum = sum_of(phases);
    EXPECT_EQ(sum.time_ns, inside) << turn;
    EXPECT_EQ(sum.calls, calls) << turn;
    EXPECT_EQ(sum.bytes, bytes) << turn;
    const double slice_ns = static_cast<double>(phases.wall_ns) / phase_slices;
    for (const PhaseSlice& slice : phases.slices)
      EXPECT_LE(static_cast<double>(slice.time_ns), slice_ns + 1) << turn << ": one thread is inside once at most";
  }
  reset();
}

// Where a call falls is an estimate while its thread goes on: a reader may be kept between two looks. What holds at all
// times: a slice never has less than nothing (it would wrap), no call is made up; and nothing is lost in the end.
TEST(Phases, CanBeReadWhileThreadsGoOn) {
  constexpr int rounds = 400, calls_of_thread = 2500;
  for (int round = 0; round < rounds; ++round) {
    reset();
    start_phases(start);
    std::atomic<std::uint64_t> clock{start + 1}, begun{0}, over{0};
    const auto work = [&] {
      for (int left = calls_of_thread; left != 0; --left) {
        begun.fetch_add(1);
        // By half a percent each: slices run out every 140 calls, and two become one.
        const std::uint64_t now = clock.load();
        const std::uint64_t begin = clock.fetch_add((now - start) / 200 + 1);
        call(begin, begin + 1);
      }
      over.fetch_add(1);
    };
    std::jthread one(work), other(work);
    for (bool is_last = false; !is_last;) {
      is_last = over.load() == 2;
      const Phases phases = phases_until_now(clock.load(), 1);
      const std::uint64_t most = begun.load();
      std::uint64_t calls = 0;
      for (const PhaseSlice& slice : phases.slices) {
        ASSERT_LE(slice.calls, most) << round;
        calls += slice.calls;
      }
      ASSERT_LE(calls, most) << round;
    }
    one.join();
    other.join();
    EXPECT_EQ(sum_of(phases_until_now(clock.load() + 1, 1)).calls, begun.load()) << round;
  }
  reset();
}

RankRecord of_rank(std::int32_t rank, std::uint64_t wall_ns, const std::vector<PhaseSlice>& slices) {
  RankRecord record;
  record.identity.rank = rank;
  record.phases = {wall_ns, slices};
  return record;
}

TEST(Phases, OfRanksAreMergedByTime) {
  constexpr std::uint64_t slice_ns = 1000;
  std::vector<PhaseSlice> busy(phase_slices, {10, 100, slice_ns}), idle(phase_slices, {0, 0, 0});
  const std::vector<RankRecord> records{
      of_rank(0, phase_slices * slice_ns, busy), of_rank(1, phase_slices * slice_ns, idle),
      // Half as long: its slices are half as long as well.
      of_rank(2, phase_slices * slice_ns / 2, {phase_slices, {4, 8, slice_ns / 4}}), of_rank(3, 0, {})};
  const PhasesReport report = merge_phases(records);
  EXPECT_EQ(report.slice_ns, slice_ns);
  ASSERT_EQ(report.slices.size(), phase_slices);
  EXPECT_EQ(report.slices[0], (PhaseReport{18, 116, 3, 0.5, 0, 1, 0}));
  EXPECT_EQ(report.slices[phase_slices / 2 - 1], (PhaseReport{18, 116, 3, 0.5, 0, 1, 0}));
  EXPECT_EQ(report.slices[phase_slices / 2], (PhaseReport{10, 100, 2, 0.5, 0, 1, 0}));
  EXPECT_TRUE(merge_phases(std::vector<RankRecord>{of_rank(0, 0, {})}).slices.empty());
}

TEST(Phases, OfAnyNumbersAreMerged) {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  const std::vector<RankRecord> records{of_rank(0, most, {phase_slices, {most, most, most}}),
                                        of_rank(1, 1, {phase_slices, {most, 0, most}})};
  const PhasesReport report = merge_phases(records);
  ASSERT_EQ(report.slices.size(), phase_slices);
  EXPECT_EQ(report.slices.back().ranks, 1u);
}

}  // namespace
}  // namespace millrace::record
