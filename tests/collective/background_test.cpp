// Collectives that are begun now and end later.
#include "collective/background.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/light_fence.h"
#include "base/program_threads.h"
#include "calls.h"
#include "collective/collective.h"
#include "operations.h"
#include "ranks.h"

namespace millrace::collective::test {
namespace {

// A call that checks its own data, in the background.
struct Checked {
  Group& group;
  CallCase what;
  std::string wrong = "not done";
  BackgroundCall call{[](void* self) {
                        auto& checked = *static_cast<Checked*>(self);
                        checked.wrong = check_call(checked.group, checked.what);
                      },
                      this};
  Checked(Group& in, const CallCase& todo) : group(in), what(todo) {}
};

constexpr std::size_t some_bytes[] = {0, 1, 8, 500, 4096, 5000, 40'000, 300'000};

// The same on all ranks.
CallCase any_case(std::mt19937_64& random, std::uint32_t ranks, std::uint64_t number) {
  CallCase made;
  // Barriers of this matrix count who has come, one at a time: not where several are under way.
  made.kind = called_kinds[1 + random() % (std::size(called_kinds) - 1)];
  const std::size_t bytes = some_bytes[random() % std::size(some_bytes)];
  if (made.reduces()) {
    const auto& all = operations();
    made.operation = &all[random() % all.size()];
    made.elements = bytes / made.operation->element_bytes;
  } else {
    made.elements = bytes;
  }
  if (has_root(made.kind)) made.root = static_cast<std::uint32_t>(random() % ranks);
  made.in_place = random() % 4 == 0;
  made.number = number;
  return made;
}

// Begins many calls, and ends them in an order that differs between ranks.
std::string many_at_once(Group& group, std::uint64_t seed, int rounds, std::size_t most) {
  BackgroundQueue queue(group);
  std::mt19937_64 same(seed), own(seed * 31 + group.rank());
  std::uint64_t number = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::unique_ptr<Checked>> open;
    const std::size_t count = 1 + same() % most;
    for (std::size_t i = 0; i < count; ++i) {
      open.push_back(std::make_unique<Checked>(group, any_case(same, group.ranks(), ++number)));
      if (!queue.begin(open.back()->call)) return "no memory";
      if (own() % 3 == 0) queue.advance(Advancing::caller);
    }
    while (!open.empty()) {
      const std::size_t next = own() % open.size();
      Checked& one = *open[next];
      if (own() % 2 == 0) {
        queue.finish(one.call);
      } else {
        while (!one.call.has_ended()) {
          queue.advance(Advancing::caller);
          std::this_thread::yield();
        }
      }
      if (!one.wrong.empty()) return one.what.name() + ": " + one.wrong;
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(next));
    }
    if (!queue.is_empty()) return "something is left";
  }
  return "";
}

// With threads of the program together, and with one at a time beside the helper.
class ProgramThreads {
 public:
  explicit ProgramThreads(bool together) { threads_together.store(together, std::memory_order_relaxed); }
  ~ProgramThreads() { threads_together.store(true, std::memory_order_relaxed); }
  ProgramThreads(const ProgramThreads&) = delete;
  ProgramThreads& operator=(const ProgramThreads&) = delete;
};

std::vector<bool> ways_to_thread() {
  std::vector<bool> ways{true};
  if (has_heavy_fences()) ways.push_back(false);
  return ways;
}

// The thread that helps, as long as this lives.
class Helper {
 public:
  Helper(BackgroundQueue& queue, bool yields)
      : thread_([this, &queue, yields] {
          prepare_heavy_fences();
          while (!done_.load()) {
            queue.advance(Advancing::helper);
            if (yields) std::this_thread::yield();
          }
        }) {}
  ~Helper() {
    done_.store(true);
    thread_.join();
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

class Background : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Background, ManyAtOnce) {
  for (const bool threads : {true, false}) {
    RankSetup setup = ranks(GetParam());
    setup.threads = threads;
    for (const bool together : ways_to_thread()) {
      const ProgramThreads program(together);
      EXPECT_EQ(run_all(setup, [](Group& group) { return many_at_once(group, 20261125, 25, 12); }), "");
    }
  }
}

TEST_P(Background, HundredAtOnce) {
  EXPECT_EQ(run_all(ranks(GetParam()), [](Group& group) { return many_at_once(group, 7, 3, 100); }), "");
}

TEST_P(Background, SleepingRanks) {
  RankSetup setup = ranks(GetParam());
  setup.waiting = Waiting::sleep;
  EXPECT_EQ(run_all(setup, [](Group& group) { return many_at_once(group, 11, 8, 10); }), "");
}

// The same while another thread of each rank advances whatever there is, and is in the way of who begins.
TEST_P(Background, ManyAtOnceWithAHelper) {
  for (const bool together : ways_to_thread()) {
    const ProgramThreads program(together);
    EXPECT_EQ(run_all(ranks(GetParam()),
                      [](Group& group) -> std::string {
                        BackgroundQueue queue(group);
                        const Helper helper(queue, false);
                        std::string wrong;
                        std::mt19937_64 same(2025);
                        for (int round = 0; round < 30 && wrong.empty(); ++round) {
                          std::vector<std::unique_ptr<Checked>> open;
                          for (std::uint64_t i = 0; i < 8; ++i) {
                            CallCase made = any_case(same, group.ranks(), static_cast<std::uint64_t>(round) * 8 + i);
                            made.elements = std::min<std::size_t>(made.elements, 100);
                            open.push_back(std::make_unique<Checked>(group, made));
                            if (!queue.begin(open.back()->call)) wrong = "no memory";
                          }
                          for (const std::unique_ptr<Checked>& one : open) {
                            queue.finish(one->call);
                            if (wrong.empty() && !one->wrong.empty()) wrong = one->what.name() + ": " + one->wrong;
                          }
                        }
                        return wrong;
                      }),
              "");
  }
}

// A thread of each rank's own advances its calls, until the calls that only others may move.
TEST_P(Background, Helped) {
  for (const bool together : ways_to_thread()) {
    const ProgramThreads program(together);
    EXPECT_EQ(run_all(ranks(GetParam()),
                      [](Group& group) -> std::string {
                        BackgroundQueue queue(group);
                        const Helper helper(queue, true);
                        std::string wrong;
                        std::mt19937_64 same(99);
                        for (std::uint64_t number = 1; number < 300 && wrong.empty(); ++number) {
                          Checked one(group, any_case(same, group.ranks(), number));
                          if (!queue.begin(one.call)) wrong = "no memory";
                          if (number % 3 == 0) queue.finish(one.call);
                          // Nothing of the rank's own thread moves it.
                          const std::uint64_t begin_ns = monotonic_ns();
                          while (!one.call.has_ended() && monotonic_ns() - begin_ns < 20'000'000'000)
                            std::this_thread::yield();
                          wrong = one.wrong;
                        }
                        return wrong;
                      }),
              "");
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Background, testing::Values(2u, 3u, 4u, 5u, 7u, 9u),
                         [](const auto& tested) { return std::to_string(tested.param) + "_ranks"; });

struct Kept {
  Group& group;
  bool refused = false;
  bool past = false;
  BackgroundCall call;
  Kept(Group& in, BackgroundCall::Work work) : group(in), call(work, this) {}
};

TEST(BackgroundCalls, WhatNeverCallsTheGroupIsNotInTheQueue) {
  EXPECT_EQ(run_all(ranks(2),
                    [](Group& group) -> std::string {
                      BackgroundQueue queue(group);
                      Kept kept(group, [](void* self) { static_cast<Kept*>(self)->refused = true; });
                      if (!queue.begin(kept.call)) return "no memory";
                      if (!kept.refused || !kept.call.has_ended() || kept.call.has_entered()) return "not refused";
                      return queue.is_empty() ? "" : "queued";
                    }),
            "");
}

// What fits the ring of chunks is left there, and its sender has done its part, whether the other rank has come or not.
TEST(BackgroundCalls, SendersLeaveWhatFits) {
  RankSetup setup = ranks(2);
  setup.selection.choose_copies = false;
  EXPECT_EQ(run_all(setup,
                    [](Group& group) -> std::string {
                      if (group.crowded()) return "";  // as thresholds say there
                      BackgroundQueue queue(group);
                      CallCase what;
                      what.kind = Kind::bcast;
                      what.elements = 256 << 10;
                      what.number = 1;
                      Checked one(group, what);
                      if (group.rank() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
                      if (!queue.begin(one.call)) return "no memory";
                      if (group.rank() == 0 && !one.call.has_ended()) return "the root waits for who has not come";
                      queue.finish(one.call);
                      return one.wrong;
                    }),
            "");
}

TEST(BackgroundCalls, HelpersLeaveSomeAlone) {
  EXPECT_EQ(run_all(ranks(2),
                    [](Group& group) -> std::string {
                      BackgroundQueue queue(group);
                      Kept kept(group, [](void* self) {
                        auto& own = *static_cast<Kept*>(self);
                        BackgroundCall::current()->keep_from_helpers();
                        barrier(own.group);
                        own.past = true;
                      });
                      // One rank of two alone cannot pass it.
                      if (group.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
                      if (!queue.begin(kept.call)) return "no memory";
                      if (group.rank() == 0) {
                        if (kept.call.has_ended()) return "ended alone";
                        const std::uint64_t begin_ns = monotonic_ns();
                        while (monotonic_ns() - begin_ns < 150'000'000) queue.advance(Advancing::helper);
                        if (kept.past) return "moved by a helper";
                      }
                      queue.finish(kept.call);
                      return kept.past ? "" : "not past";
                    }),
            "");
}

// Whoever began what others did not hears of it, and so does who dies.
TEST(BackgroundCalls, MismatchAndDeathEndThem) {
  const auto differ = [](Group& group) -> std::string {
    BackgroundQueue queue(group);
    Kept kept(group, [](void* self) {
      auto& own = *static_cast<Kept*>(self);
      double in = 1, out = 0;
      const Reducer sum = kernel_reducer(kernel::Op::sum, kernel::Type::f64);
      own.refused = own.group.rank() == 0 ? barrier(own.group) == Result::mismatch
                                          : allreduce(own.group, &in, &out, 1, sum) == Result::mismatch;
    });
    if (!queue.begin(kept.call)) return "no memory";
    queue.finish(kept.call);
    return kept.refused ? "" : "no mismatch";
  };
  RankSetup setup = ranks(3);
  setup.timeout_seconds = 30;
  EXPECT_EQ(run_all(setup, differ), "");

  const std::vector<std::string> outcomes = run_ranks(setup, [](Group& group) -> std::string {
    BackgroundQueue queue(group);
    if (group.rank() == 2) _exit(3);
    Kept kept(group, [](void* self) {
      auto& own = *static_cast<Kept*>(self);
      own.refused = barrier(own.group) == Result::peer_died;
    });
    if (!queue.begin(kept.call)) return "no memory";
    if (group.rank() == 0) queue.finish(kept.call);
    while (!kept.call.has_ended()) queue.advance(Advancing::caller);  // also without ever waiting
    return kept.refused ? "" : "not told";
  });
  EXPECT_EQ(outcomes[0], "");
  EXPECT_EQ(outcomes[1], "");
}

}  // namespace
}  // namespace millrace::collective::test
