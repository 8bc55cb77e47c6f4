// Ranks that ask at different times whether all are there come to one answer (src/shim/world_rounds.cpp). Ranks are
// threads; each has a job's names of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "shim/presence.h"

namespace millrace::shim {
namespace {

constexpr int rounds = Presence::rounds;

struct Job {
  int ranks;
  int absent = -1;      // this rank never announces itself
  int threaded = -1;    // this rank's calls have no order
  bool leaves = false;  // a rank whose first answer was no ends
  std::uint64_t seed;
};

struct Answers {
  std::array<std::atomic<int>, rounds> yes{}, no{};
};

void wait_a_little(std::mt19937_64& random) {
  const auto kind = random() % 4;
  if (kind == 1) std::this_thread::yield();
  if (kind == 2) usleep(static_cast<unsigned>(random() % 50));
  if (kind == 3) usleep(static_cast<unsigned>(random() % 500));
}

// One rank: it announces itself and asks round after round, until all are known to be there.
void take_part(const Job& job, const std::string& name, int rank, Answers& answers) {
  std::mt19937_64 random(job.seed * 1000 + static_cast<std::uint64_t>(rank));
  Presence presence;
  wait_a_little(random);
  ASSERT_TRUE(presence.announce(name, rank, job.ranks, rank == job.threaded));
  if (rank == job.threaded) return (void)usleep(2000);
  for (std::size_t round = 0; round < rounds; ++round) {
    wait_a_little(random);
    const bool yes = presence.ranks_are_there(static_cast<int>(round));
    ++(yes ? answers.yes : answers.no)[round];
    // Ranks that have found all meet in a collective; the others may be gone before the next one comes.
    for (int i = 0; yes && i < 100000 && answers.yes[round] + answers.no[round] < job.ranks; ++i) usleep(100);
    if (yes || job.leaves) break;
  }
  presence.withdraw();
}

std::string new_name() {
  static std::atomic<int> jobs{0};
  return fmt::format("test-{}-{}", getpid(), jobs++);
}

// How many rounds ended with yes. No round may have both answers.
int play(const Job& job) {
  const std::string name = new_name();
  Answers answers;
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < job.ranks; ++rank)
    if (rank != job.absent) ranks.emplace_back([&, rank] { take_part(job, name, rank, answers); });
  for (std::thread& rank : ranks) rank.join();
  int yes = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    EXPECT_TRUE(answers.yes[round] == 0 || answers.no[round] == 0)
        << "round " << round << " of seed " << job.seed << ": " << answers.yes[round] << " ranks found all, "
        << answers.no[round] << " did not";
    if (answers.yes[round] > 0) {
      EXPECT_EQ(answers.yes[round], job.ranks);
      ++yes;
    }
  }
  return yes;
}

TEST(WorldRounds, OneAnswerWheneverRanksCome) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    found += play({.ranks = 2 + static_cast<int>(seed % 4), .seed = seed});
  EXPECT_GT(found, 0);
}

TEST(WorldRounds, ARankThatIsMissingIsNotWaitedFor) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) EXPECT_EQ(play({.ranks = 3, .absent = 1, .seed = seed}), 0);
}

TEST(WorldRounds, RanksWithThreadsInMpiCountAsMissing) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) EXPECT_EQ(play({.ranks = 3, .threaded = 2, .seed = seed}), 0);
}

TEST(WorldRounds, AnAnswerStandsWhenItsRankHasGone) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) play({.ranks = 3, .leaves = true, .seed = seed});
}

TEST(WorldRounds, AllThereFromTheBeginningFindEachOther) {
  const std::string name = new_name();
  std::array<Presence, 3> ranks;
  for (int rank = 0; rank < 3; ++rank)
    ASSERT_TRUE(ranks[static_cast<std::size_t>(rank)].announce(name, rank, 3, false));
  for (Presence& rank : ranks) EXPECT_TRUE(rank.ranks_are_there(0));
}

TEST(WorldRounds, WhoCameTooLateStillHearsTheFirstAnswer) {
  const std::string name = new_name();
  Presence first, second;
  ASSERT_TRUE(first.announce(name, 0, 2, false));
  EXPECT_FALSE(first.ranks_are_there(0));
  ASSERT_TRUE(second.announce(name, 1, 2, false));
  EXPECT_FALSE(second.ranks_are_there(0));
  EXPECT_TRUE(second.ranks_are_there(1));
  EXPECT_TRUE(first.ranks_are_there(1));
}

}  // namespace
}  // namespace millrace::shim
