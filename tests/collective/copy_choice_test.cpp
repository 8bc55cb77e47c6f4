#include "collective/copy_choice.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace millrace::collective::test {
namespace {

constexpr std::size_t bytes = 300000;
constexpr Ways all_ways = Ways{}.with(Copies::one).with(Copies::two).with(Copies::past_caches);
constexpr Ways two_ways = Ways{}.with(Copies::two).with(Copies::past_caches);
using Price = std::array<std::uint64_t, copies_count>;

// How many of `calls` go each way, where that costs so much.
std::array<int, copies_count> run(CopyChoice& choice, int calls, const Price& price, Ways ways = all_ways) {
  std::array<int, copies_count> times{};
  for (int call = 0; call < calls; ++call) {
    const CopyChoice::Trial trial = choice.next(Kind::bcast, bytes, ways);
    const Copies copies = trial.is_one ? trial.copies : choice.cheapest(Kind::bcast, bytes, ways, Copies::two);
    const auto way = static_cast<std::size_t>(copies);
    ++times[way];
    if (trial.is_one) choice.add(Kind::bcast, bytes, copies, price[way]);
  }
  return times;
}

TEST(CopyChoice, TakesWhatCostsLeast) {
  const Price prices[] = {{1000, 2000, 3000}, {3000, 1000, 2000}, {2000, 3000, 1000}};
  for (std::size_t best = 0; best < copies_count; ++best) {
    CopyChoice choice;
    EXPECT_GE(run(choice, 640, prices[best])[best], 640 - 8 - 2 * 8) << best;
  }
  CopyChoice choice;
  EXPECT_EQ(run(choice, 640, prices[1], two_ways)[0], 0);
}

// The machine changes: within four trials of a way.
TEST(CopyChoice, FollowsTheMachine) {
  CopyChoice choice;
  run(choice, 300, {1000, 2000, 3000});
  run(choice, 5 * 128, {4000, 2000, 3000});
  EXPECT_GE(run(choice, 640, {4000, 2000, 3000})[1], 610);
  run(choice, 5 * 128, {4000, 2000, 1000});
  EXPECT_GE(run(choice, 640, {4000, 2000, 1000})[2], 610);
}

// A program makes such calls by twos, threes or fours, and the first of them finds nothing in a cache: that is no fault
// of the way it goes.
TEST(CopyChoice, TriesAllWaysAtAllPlacesOfALoop) {
  for (const Ways ways : {two_ways, all_ways})
    for (int period = 2; period <= 4; ++period)
      for (int first = 0; first < period; ++first)
        for (std::size_t best = ways.count() == 2 ? 1 : 0; best < copies_count; ++best) {
          CopyChoice choice;
          Price price{1300, 1300, 1300};
          price[best] = 1000;
          for (int call = 0; call < 4 * ways.count(); ++call) {
            const CopyChoice::Trial trial = choice.next(Kind::reduce, bytes, ways);
            ASSERT_TRUE(trial.is_one);
            const std::uint64_t cold = call % period == first ? 2000 : 0;
            choice.add(Kind::reduce, bytes, trial.copies, price[static_cast<std::size_t>(trial.copies)] + cold);
          }
          EXPECT_EQ(choice.cheapest(Kind::reduce, bytes, ways, Copies::two), static_cast<Copies>(best))
              << ways.count() << " ways, the " << first << ". of " << period << " calls is cold";
        }
}

TEST(CopyChoice, IsNotImpressedByADelay) {
  CopyChoice choice;
  run(choice, 50, {1000, 2000, 3000});
  for (int delay = 0; delay < 3; ++delay) choice.add(Kind::bcast, bytes, Copies::one, 100000);
  EXPECT_EQ(choice.cheapest(Kind::bcast, bytes, all_ways, Copies::two), Copies::one);
}

TEST(CopyChoice, KeepsKindsAndSizesApart) {
  CopyChoice choice;
  run(choice, 50, {3000, 2000, 1000});
  EXPECT_EQ(choice.cheapest(Kind::bcast, bytes, all_ways, Copies::two), Copies::past_caches);
  for (const Copies untried : {Copies::one, Copies::two}) {
    EXPECT_EQ(choice.cheapest(Kind::bcast, 4 * bytes, all_ways, untried), untried);
    EXPECT_EQ(choice.cheapest(Kind::alltoall, bytes, all_ways, untried), untried);
  }
}

// Ranks that count alike try alike, each way as often, and seldom.
TEST(CopyChoice, AllTryTheSame) {
  CopyChoice mine, theirs;
  Price tries{};
  for (int call = 0; call < 6412; ++call) {
    const CopyChoice::Trial trial = mine.next(Kind::alltoall, 0, all_ways);
    const CopyChoice::Trial other = theirs.next(Kind::alltoall, 0, all_ways);
    ASSERT_EQ(trial.is_one, other.is_one);
    if (!trial.is_one) continue;
    ASSERT_EQ(trial.copies, other.copies);
    ++tries[static_cast<std::size_t>(trial.copies)];
    if (call % 3 == 0) mine.next(Kind::gather, 0, all_ways);  // another kind is counted apart
    theirs.add(Kind::alltoall, bytes, trial.copies, 1000);    // and what was seen does not matter
  }
  for (const std::uint64_t way : tries) EXPECT_NEAR(static_cast<double>(way), 4 + 4 + 48, 4);
}

// A program may call with other sizes in between, always: each of a pattern is tried every way.
TEST(CopyChoice, TriesEverySizeOfAPattern) {
  for (std::size_t period = 2; period <= 16; ++period) {
    CopyChoice choice;
    std::vector<Price> tries(period);
    for (std::size_t call = 0; call < 128 * 16 * period; ++call) {
      const CopyChoice::Trial trial = choice.next(Kind::alltoall, 0, all_ways);
      if (trial.is_one && call >= 12) ++tries[call % period][static_cast<std::size_t>(trial.copies)];
    }
    for (const Price& each : tries)
      for (const std::uint64_t way : each) EXPECT_GE(way, 3u) << period;
  }
}

// The shared count alone tries a size that is not the first one in 3 of 128 calls.
TEST(CopyChoice, TriesTheOwnSizesEarly) {
  CopyChoice choice;
  for (int call = 0; call < 1000; ++call) choice.next(Kind::neighbor, 0, all_ways, 100);
  int tried = 0;
  for (int call = 0; call < 40; ++call) tried += choice.next(Kind::neighbor, 0, all_ways, 256 << 10).is_one ? 1 : 0;
  EXPECT_GE(tried, 12);
  tried = 0;
  for (int call = 0; call < 100; ++call) tried += choice.next(Kind::neighbor, 0, all_ways, 256 << 10).is_one ? 1 : 0;
  EXPECT_LE(tried, 12);
}

// Whatever ways there were when it was tried.
TEST(CopyChoice, EndsTrialsWithFewerWays) {
  CopyChoice choice;
  for (int call = 0; call < 100; ++call) choice.next(Kind::neighbor, 0, all_ways, 256 << 10);
  int tried = 0;
  for (int call = 0; call < 100; ++call) tried += choice.next(Kind::neighbor, 0, two_ways, 256 << 10).is_one ? 1 : 0;
  EXPECT_LE(tried, 12);
}

TEST(CopyChoice, NotesSayWhatTheyAreOf) {
  const std::uint64_t note = CostNote::make(70000, 12345);
  EXPECT_TRUE(CostNote::is_of(note, 70000));
  EXPECT_FALSE(CostNote::is_of(note, 70001));
  EXPECT_EQ(CostNote::ticks_of(note), 12345u);
}

}  // namespace
}  // namespace millrace::collective::test
