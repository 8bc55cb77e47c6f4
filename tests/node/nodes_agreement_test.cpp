// Ranks as threads, with a post that takes its time and a host whose calls wait for others or do not.
#include "node/nodes_agreement.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

namespace millrace::node {
namespace {

using Clock = std::chrono::steady_clock;
using State = NodesAgreement::State;

constexpr Identity name{7, 9};

// How many ranks have come to each call; who waits there, waits for some number of them.
class Host {
 public:
  void come(std::uint64_t call, std::uint32_t wanted) {
    std::unique_lock hold(mutex_);
    if (come_.size() <= call) come_.resize(call + 1);
    ++come_[call];
    changed_.notify_all();
    if (!changed_.wait_for(hold, std::chrono::seconds(20), [&] { return come_[call] >= wanted; })) hangs = true;
  }
  std::atomic<bool> hangs{false};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint32_t> come_;
};

struct Box {
  std::mutex mutex;
  std::vector<std::pair<Clock::time_point, NodesLetter>> letters;
};

class Post final : public NodesPost {
 public:
  Post(std::vector<Box>& boxes, std::uint32_t rank, unsigned seed, int delay_us)
      : boxes_(boxes), rank_(rank), random_(seed), delay_us_(delay_us) {}

  void post(std::uint32_t member, const NodesLetter& letter) override {
    const auto delay = std::chrono::microseconds(delay_us_ == 0 ? 0 : random_() % static_cast<unsigned>(delay_us_));
    // Of one sender they stay in order.
    last_ = std::max(last_, Clock::now() + delay);
    const std::lock_guard hold(boxes_[member].mutex);
    boxes_[member].letters.emplace_back(last_, letter);
  }
  std::vector<NodesLetter> collect() override {
    ++looks;
    std::vector<NodesLetter> came;
    const std::lock_guard hold(boxes_[rank_].mutex);
    auto& letters = boxes_[rank_].letters;
    std::erase_if(letters, [&](const auto& each) {
      if (each.first > Clock::now()) return false;
      came.push_back(each.second);
      return true;
    });
    return came;
  }
  std::uint64_t now_ns() override { return static_cast<std::uint64_t>(Clock::now().time_since_epoch().count()); }
  int looks = 0;
  void pass_time(std::uint32_t round) override {
    if (round == 2'000'000) {  // some seconds; nobody could end it
      std::fputs("a rank waits for ever\n", stderr);
      std::abort();
    }
    std::this_thread::yield();
  }

 private:
  std::vector<Box>& boxes_;
  std::uint32_t rank_;
  std::mt19937 random_;
  int delay_us_;
  Clock::time_point last_{};
};

struct Program {
  std::uint32_t ranks = 4;
  std::uint64_t calls = 300;
  int delay_us = 50;
  int most_pause_us = 0;
  unsigned waits_in = 1;            // one call in so many waits for all ranks
  std::uint32_t joins_not = ~0u;    // this rank never does
  std::uint32_t other_calls = ~0u;  // this one has made others before
  std::uint64_t spoils_at = 0;      // after so many calls ...
  std::uint32_t spoils = 1;         // ... this rank
};

// The call from which each rank went over nodes, 0: none; then, whether all at that call met.
std::vector<std::uint64_t> run(const Program& program, unsigned seed) {
  std::vector<Box> boxes(program.ranks);
  std::vector<std::uint64_t> shared_from(program.ranks);
  Host host, together;
  std::vector<std::thread> ranks;
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank)
    ranks.emplace_back([&, rank] {
      Post post(boxes, rank, seed * 31 + rank, program.delay_us);
      std::mt19937 same(seed), own(seed + 1000 * rank);
      std::unique_ptr<NodesAgreement> agreement;
      for (std::uint64_t call = 1; call <= program.calls; ++call) {
        if (call == 5 && rank != program.joins_not)
          agreement = std::make_unique<NodesAgreement>(name, rank, program.ranks, post, call - 1,
                                                       rank == program.other_calls ? 1 : 0);
        if (program.most_pause_us != 0)
          std::this_thread::sleep_for(std::chrono::microseconds(own() % static_cast<unsigned>(program.most_pause_us)));
        if (agreement && rank == program.spoils && call == program.spoils_at) {
          agreement->spoil();
          agreement.reset();
        }
        const bool waits = same() % program.waits_in == 0;
        if (agreement && agreement->enter(call - 1, waits) == State::shared) {
          EXPECT_TRUE(waits);
          shared_from[rank] = call;
          together.come(call, program.ranks);
          return;
        }
        host.come(call, waits ? program.ranks : 1);
      }
    });
  for (std::thread& rank : ranks) rank.join();
  EXPECT_FALSE(host.hangs) << "seed " << seed;
  EXPECT_FALSE(together.hangs) << "seed " << seed;
  return shared_from;
}

void expect_all_alike(const Program& program, unsigned seed, bool wants_shared) {
  const std::vector<std::uint64_t> from = run(program, seed);
  for (const std::uint64_t each : from) EXPECT_EQ(each, from[0]) << "seed " << seed;
  EXPECT_EQ(from[0] != 0, wants_shared) << "seed " << seed;
}

TEST(NodesAgreement, CallsThatWaitForAll) {
  for (unsigned seed = 1; seed <= 20; ++seed) expect_all_alike({}, seed, true);
}

TEST(NodesAgreement, AtCall17WhereLettersAreFast) {
  Program program;
  program.delay_us = 0;
  program.most_pause_us = 200;
  unsigned at_17 = 0;
  for (unsigned seed = 1; seed <= 10; ++seed) at_17 += run(program, seed)[2] == 17;
  EXPECT_GE(at_17, 9u);
}

TEST(NodesAgreement, SlowLettersAndRanksThatRunAhead) {
  for (unsigned seed = 1; seed <= 25; ++seed) {
    Program program;
    program.ranks = 2 + seed % 5;
    program.calls = 3000;
    program.delay_us = static_cast<int>(seed * 40);
    program.most_pause_us = seed % 3 == 0 ? 20 : 0;
    program.waits_in = 1 + seed % 30;
    const std::vector<std::uint64_t> from = run(program, seed);
    for (const std::uint64_t each : from) EXPECT_EQ(each, from[0]) << "seed " << seed;
  }
}

TEST(NodesAgreement, NobodyWaitsForWhoNeverJoins) {
  for (const std::uint32_t rank : {0u, 2u}) {
    Program program;
    program.joins_not = rank;
    expect_all_alike(program, 3, false);
  }
}

TEST(NodesAgreement, OtherCallsBefore) {
  for (const std::uint32_t rank : {0u, 3u}) {
    Program program;
    program.other_calls = rank;
    expect_all_alike(program, 5, false);
  }
}

TEST(NodesAgreement, WhoHasLostCountIsHeard) {
  // Also after it has promised, and where others wait at the call already.
  for (const std::uint32_t rank : {0u, 1u})
    for (std::uint64_t call = 6; call <= 17; ++call) {
      Program program;
      program.spoils_at = call;
      program.spoils = rank;
      program.delay_us = call % 2 == 0 ? 0 : 20;
      program.most_pause_us = 30;
      expect_all_alike(program, static_cast<unsigned>(call), false);
    }
}

TEST(NodesAgreement, CallsThatWaitForNobodySeldomLook) {
  std::vector<Box> boxes(2);
  for (const std::uint32_t rank : {0u, 1u}) {
    Post post(boxes, rank, 1, 0);
    NodesAgreement agreement(name, rank, 2, post, 4, 0);
    for (std::uint64_t call = 5; call <= 100'000; ++call) agreement.enter(call - 1, false);
    EXPECT_LT(post.looks, 200);
    EXPECT_GT(post.looks, 50);
    const int before = post.looks;
    agreement.enter(100'000, true);
    EXPECT_EQ(post.looks, before + 1);
  }
}

TEST(NodesAgreement, NeverWhereNoCallWaitsForAll) {
  Program program;
  program.waits_in = 1'000'000;
  expect_all_alike(program, 4, false);
}

// A root goes on and then sends what another rank waits for before it comes to the same call.
TEST(NodesAgreement, NobodyWaitsInCallsThatDoNot) {
  Program program;
  program.waits_in = 7;
  program.most_pause_us = 100;
  for (unsigned seed = 1; seed <= 10; ++seed) expect_all_alike(program, seed, true);
}

}  // namespace
}  // namespace millrace::node
