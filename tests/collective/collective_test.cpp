// Every collective against the serial left fold. Without MILLRACE_TEST_FULL a sample, from a fixed seed, in which every
// value of every axis occurs.
#include "collective/collective.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <random>
#include <vector>

#include "calls.h"
#include "plan/collective.h"
#include "ranks.h"

namespace millrace::collective::test {
namespace {

bool test_fully() { return std::getenv("MILLRACE_TEST_FULL") != nullptr; }

constexpr std::uint32_t small_slot = 4096, small_cell = 512;

// A shape with small rings too: then few bytes go round them many times.
RankSetup setup_of(std::uint32_t count, bool small) {
  RankSetup setup = ranks(count);
  if (small) {
    setup.shape.slot_bytes = small_slot;
    setup.shape.cell_bytes = small_cell;
    setup.shape.calls_ahead = 4;
  }
  return setup;
}

std::vector<std::size_t> sizes(const Shape& shape, std::size_t most_bytes) {
  const std::size_t cell = shape.cell_bytes, chunk = std::min<std::size_t>(shape.slot_bytes, 32 << 10),
                    ring = chunk * shape.slots;
  std::vector<std::size_t> all;
  for (const std::size_t bytes : {std::size_t{0},
                                  std::size_t{1},
                                  std::size_t{3},
                                  std::size_t{8},
                                  std::size_t{56},
                                  std::size_t{57},
                                  std::size_t{64},
                                  std::size_t{111},
                                  std::size_t{112},
                                  std::size_t{113},
                                  cell - 1,
                                  cell,
                                  cell + 1,
                                  std::size_t{4095},
                                  std::size_t{4096},
                                  std::size_t{4097},
                                  chunk - 1,
                                  chunk,
                                  chunk + 1,
                                  ring - 1,
                                  ring,
                                  ring + 1,
                                  (std::size_t{1} << 20) + 3,
                                  std::size_t{40} << 20})
    if (bytes <= most_bytes) all.push_back(bytes);
  return all;
}

// All cases of a group in one run, one after the other: this also mixes algorithms in one segment.
std::vector<CallCase> cases(const Shape& shape, std::mt19937& random, std::size_t most_bytes, bool in_rank_order) {
  std::vector<CallCase> all;
  std::uint64_t number = random();
  for (const std::size_t bytes : sizes(shape, most_bytes)) {
    for (const Kind kind : {Kind::barrier, Kind::bcast, Kind::reduce, Kind::allreduce}) {
      for (const Operation& operation : operations()) {
        const bool reduces = kind == Kind::reduce || kind == Kind::allreduce;
        if (!reduces && &operation != &operations()[0]) continue;
        // Of the large ones one operation each, another every time.
        if (reduces && bytes > 100000 && !test_fully() && &operation != &operations()[random() % operations().size()])
          continue;
        for (const bool in_place : {false, true}) {
          if (!reduces && in_place) continue;
          CallCase call;
          call.kind = kind;
          call.operation = reduces ? &operation : nullptr;
          call.elements = reduces ? bytes / operation.element_bytes : bytes;
          call.root =
              kind == Kind::allreduce || kind == Kind::barrier ? 0 : static_cast<std::uint32_t>(random() % shape.ranks);
          call.in_place = in_place;
          call.number = ++number;
          if (in_rank_order || !reduces || operation.any_order) all.push_back(call);
        }
      }
    }
  }
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

std::string run_cases(const RankSetup& setup, const std::vector<CallCase>& all) {
  return run_all(setup, [&](Group& group) -> std::string {
    for (const CallCase& call : all)
      if (std::string wrong = check_call(group, call); !wrong.empty()) return wrong;
    return "";
  });
}

struct Axis {
  std::uint32_t ranks;
  Waiting waiting;
  bool small;
  bool threads;
  std::size_t most_bytes;
  const char* tree = "";  // reductions and all else along this tree
};

class Collectives : public testing::TestWithParam<Axis> {};

TEST_P(Collectives, AreTheLeftFold) {
  const Axis axis = GetParam();
  RankSetup setup = setup_of(axis.ranks, axis.small);
  setup.waiting = axis.waiting;
  setup.threads = axis.threads;
  setup.selection.reduce_slices_ranks = axis.small ? 2 : 5;
  setup.selection.pair = axis.waiting != Waiting::yield;
  if (axis.tree[0] != 0) {
    ASSERT_TRUE(plan::tree_shape_of(axis.tree, setup.selection.tree));
    setup.selection.pair = false;
    setup.selection.barrier_tree_ranks = setup.selection.bcast_tree_ranks = 2;
    // Of the operations here only those whose result does not depend on the order may go along a tree.
    setup.selection.reduce_tree_ranks = setup.selection.allreduce_tree_ranks = 2;
  }
  std::mt19937 random(20261121 + axis.ranks);
  EXPECT_EQ(run_cases(setup, cases(setup.shape, random, axis.most_bytes, axis.tree[0] == 0)), "");
}

std::vector<Axis> axes() {
  std::vector<Axis> all;
  if (test_fully()) {
    for (const std::uint32_t count : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 16u})
      for (const Waiting waiting : {Waiting::automatic, Waiting::spin, Waiting::yield, Waiting::sleep})
        for (const bool small : {false, true})
          all.push_back({count, waiting, small, false, waiting == Waiting::automatic ? 41u << 20 : 2u << 20});
    for (const std::uint32_t count : {2u, 3u, 7u, 9u, 16u})
      for (const char* tree : {"flat", "kary:2", "kary:3,leaders-last", "knomial:2", "knomial:4,small-first"})
        all.push_back({count, Waiting::automatic, true, false, 100000, tree});
    return all;
  }
  constexpr std::size_t medium = 100000, large = 2 << 20;
  return {{1, Waiting::automatic, false, false, large},
          {2, Waiting::automatic, false, false, 41 << 20},
          {2, Waiting::sleep, true, false, medium},
          {2, Waiting::spin, true, true, medium},
          {2, Waiting::yield, true, true, medium},
          {3, Waiting::automatic, true, false, medium},
          {4, Waiting::yield, false, false, large},
          {5, Waiting::sleep, true, false, medium},
          {6, Waiting::automatic, false, true, medium},
          {7, Waiting::yield, true, false, medium},
          {8, Waiting::automatic, false, false, large},
          {9, Waiting::sleep, true, true, medium},
          {16, Waiting::automatic, true, false, medium},
          {2, Waiting::spin, true, false, medium, "flat"},
          {5, Waiting::automatic, true, true, medium, "kary:2,leaders-last"},
          {9, Waiting::yield, true, false, medium, "knomial:2,socket,small-first"},
          {16, Waiting::sleep, true, false, medium, "knomial:4,cache"}};
}

std::string axis_name(const testing::TestParamInfo<Axis>& info) {
  const Axis& axis = info.param;
  std::string name = fmt::format("{}_{}_{}_{}_{}", axis.ranks, shared_memory::waiting_name(axis.waiting),
                                 axis.small ? "small" : "usual", axis.threads ? "threads" : "processes", axis.tree);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Each, Collectives, testing::ValuesIn(axes()), axis_name);

// A root of Bcast and a leaf of Reduce go on for 64 calls while the other side has not begun.
TEST(RunAhead, SixtyFourCalls) {
  for (const bool reduces : {false, true}) {
    const std::string wrong = run_all(ranks(2), [&](Group& group) -> std::string {
      // The other side begins when told so by a flag, which is set after the last call: else this would wait for ever.
      const bool ahead = group.rank() == (reduces ? 1u : 0u);
      std::atomic<std::uint64_t>& told = group.member(reduces ? 1 : 0).reduced.value;
      if (!ahead)
        while (told.load(std::memory_order_acquire) == 0) sched_yield();
      for (std::uint64_t number = 0; number < 64; ++number) {
        CallCase call;
        call.kind = reduces ? Kind::reduce : Kind::bcast;
        call.operation = reduces ? &operations()[2] : nullptr;
        call.elements = reduces ? 512 : 4096;
        call.number = number;
        if (std::string result = check_call(group, call); !result.empty()) return result;
      }
      if (ahead) told.store(1, std::memory_order_release);
      return "";
    });
    EXPECT_EQ(wrong, "");
  }
}

TEST(Stress, ShortCallsOfAllKindsWithDelays) {
  const int calls = test_fully() ? 1000000 : 20000;
  for (const std::uint32_t count : {2u, 3u}) {
    const std::string wrong = run_all(setup_of(count, true), [&](Group& group) -> std::string {
      std::mt19937 common(7), own(group.rank());
      for (int number = 0; number < calls; ++number) {
        CallCase call;
        call.kind = static_cast<Kind>(1 + common() % 4);
        const bool reduces = call.kind == Kind::reduce || call.kind == Kind::allreduce;
        call.operation = reduces ? &operations()[common() % operations().size()] : nullptr;
        call.elements = common() % (common() % 50 == 0 ? 3000 : 40);
        call.root = call.kind == Kind::allreduce || call.kind == Kind::barrier ? 0 : common() % count;
        call.in_place = common() % 2 == 0;
        call.number = static_cast<std::uint64_t>(number);
        for (unsigned wait = own() % 500 == 0 ? own() % 20000 : 0; wait != 0; --wait) asm volatile("");
        if (std::string result = check_call(group, call); !result.empty()) return result;
      }
      return "";
    });
    EXPECT_EQ(wrong, "") << count << " ranks";
  }
}

}  // namespace
}  // namespace millrace::collective::test
