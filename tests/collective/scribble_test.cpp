// A process of the same user writes anything into the memory that ranks share, while they call collectives: calls may
// fail, hang until a peer is given up, or have wrong results, but nothing outside that memory is touched.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <random>
#include <thread>

#include "base/clock.h"
#include "ranks.h"
#include "scribble.h"

namespace millrace::collective::test {
namespace {

std::uint64_t deadline_ns = 0;  // of the round; then waiting ranks are told that a peer is gone
bool before_deadline(void*) { return monotonic_ns() < deadline_ns; }

std::uint64_t number_from(const char* variable, std::uint64_t standard) {
  const char* const text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 0) : standard;
}

// Writes into the segment of `group` until told to stop, in bursts, for calls should also get somewhere.
class ScribblingThread {
 public:
  ScribblingThread(Group& group, std::uint64_t seed)
      : thread_([this, &group, seed] {
          std::mt19937_64 random(seed);
          Scribbler scribbler(reinterpret_cast<char*>(&group.member(0)) - page_bytes, group.shape(), seed);
          while (!stop_.load(std::memory_order_relaxed)) {
            const timespec pause{0, static_cast<long>(random() % 2'000'000)};
            nanosleep(&pause, nullptr);
            for (std::uint64_t burst = random() % (random() % 8 == 0 ? 500 : 4); burst != 0; --burst) scribbler.once();
          }
        }) {}
  ~ScribblingThread() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

RankSetup any_setup(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  RankSetup setup = ranks(2 + static_cast<std::uint32_t>(random() % 3));
  if (random() % 3 == 0) setup.shape = shape_for(setup.shape.ranks, 700'000);
  setup.waiting = random() % 2 ? Waiting::sleep : Waiting::yield;
  setup.selection.single_copy = random() % 2;
  setup.selection.pair = random() % 2;
  if (random() % 3 == 0)
    setup.selection.barrier_tree_ranks = setup.selection.bcast_tree_ranks = setup.selection.reduce_tree_ranks =
        setup.selection.allreduce_tree_ranks = 2;
  if (random() % 3 == 0)
    setup.selection.barrier_mesh_ranks = setup.selection.reduce_mesh_ranks = setup.selection.allreduce_mesh_ranks = 3;
  if (random() % 3 == 0)
    setup.selection.alltoall_mesh_ranks = setup.selection.reduce_scatter_mesh_ranks =
        setup.selection.scan_gathered_ranks = 3;
  if (random() % 3 == 0) setup.selection.allreduce_chain_bytes = setup.selection.reduce_chain_bytes = 0;
  setup.selection.bcast_single_copy_ranks = 4;
  setup.selection.shared_rows_crowded = random() % 2 == 0;
  setup.selection.exchange_single_copy_crowded_bytes = setup.selection.exchange_single_copy_bytes;
  setup.selection.publish_single_copy_crowded_bytes = setup.selection.publish_single_copy_bytes;
  setup.progress = before_deadline;
  setup.timeout_seconds = 60;
  return setup;
}

std::string scribbled_round(std::uint64_t seed, std::uint64_t calls) {
  const RankSetup setup = any_setup(seed);
  deadline_ns = monotonic_ns() + 60'000'000;
  const auto outcomes = run_ranks(setup, [&](Group& group) -> std::string {
    std::optional<ScribblingThread> hostile;
    if (group.rank() == seed % group.ranks()) hostile.emplace(group, seed);
    for (std::uint64_t call = 0; call < calls && monotonic_ns() < deadline_ns; ++call) {
      if (std::string wrong = call_anything(group, seed * 1000 + call); !wrong.empty())
        return fmt::format("call {}: {}", call, wrong);
      if (group.broken() != Result::ok) break;
    }
    return "";
  });
  for (const std::string& outcome : outcomes)
    if (!outcome.empty() && !outcome.starts_with("start: ")) return outcome;
  return "";
}

// MILLRACE_TEST_SCRIBBLES rounds from MILLRACE_TEST_SEED on; by hand, as many as there is time for.
TEST(Scribble, HarmsNothingOutside) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "what it does is a race";
#endif
  const std::uint64_t seed = number_from("MILLRACE_TEST_SEED", 1), rounds = number_from("MILLRACE_TEST_SCRIBBLES", 60);
  for (std::uint64_t round = seed; round < seed + rounds; ++round)
    ASSERT_EQ(scribbled_round(round, 1000), "") << "MILLRACE_TEST_SEED=" << round;
}

// The same without anybody who scribbles: the calls are good ones.
TEST(Scribble, CallsAreFineWithoutIt) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    RankSetup setup = any_setup(seed);
    setup.progress = nullptr;
    EXPECT_EQ(run_all(setup,
                      [&](Group& group) -> std::string {
                        for (std::uint64_t call = 0; call < 100; ++call) {
                          if (std::string wrong = call_anything(group, seed * 1000 + call); !wrong.empty())
                            return wrong;
                          if (group.broken() != Result::ok) return result_name(group.broken());
                        }
                        return "";
                      }),
              "")
        << seed;
  }
}

}  // namespace
}  // namespace millrace::collective::test
