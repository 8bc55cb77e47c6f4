// Messages between all pairs of ranks, generated. Without MILLRACE_TEST_FULL a sample from a fixed seed.
#include "collective/exchange.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <random>
#include <set>

#include "collective/algorithms.h"
#include "collective/collective.h"
#include "messages.h"
#include "plan/collective.h"
#include "ranks.h"

namespace millrace::collective::test {
namespace {

bool test_fully() { return std::getenv("MILLRACE_TEST_FULL") != nullptr; }

RankSetup setup_of(std::uint32_t count, bool small, bool single_copy) {
  RankSetup setup = ranks(count);
  setup.timeout_seconds = 60;
  setup.selection.single_copy = single_copy;
  // Within the sizes that occur.
  setup.selection.exchange_single_copy_bytes = small ? 3000 : 100000;
  setup.selection.publish_single_copy_bytes = small ? 2000 : 90000;
  setup.selection.exchange_single_copy_crowded_bytes = setup.selection.exchange_single_copy_bytes;
  setup.selection.publish_single_copy_crowded_bytes = setup.selection.publish_single_copy_bytes;
  if (small) {
    setup.shape.slot_bytes = 1024;
    setup.shape.cell_bytes = 256;
    setup.shape.calls_ahead = 4;
    setup.shape.letters = 2;
    setup.shape.unit_bytes = 128;
  }
  return setup;
}

// Sizes around those at which something changes.
std::size_t some_bytes(const GroupShape& shape, std::mt19937& random, std::size_t most_bytes) {
  const std::size_t unit = shape.unit_bytes, outbox = unit * 64;
  const std::size_t edges[] = {0,        1,        32,        96,     97,         shape.cell_bytes, unit,
                               2 * unit, 8 * unit, 16 * unit, outbox, 2 * outbox, 64 << 10};
  std::size_t bytes = 0;
  switch (random() % 4) {
    case 0: bytes = random() % 120; break;
    case 1: bytes = random() % (3 * unit); break;
    default: bytes = edges[random() % std::size(edges)] + random() % 3;
  }
  if (random() % 2 == 0 && bytes > 0) --bytes;
  return std::min(bytes, most_bytes);
}

Traffic some_traffic(const GroupShape& shape, std::mt19937& random, std::size_t most_bytes) {
  Traffic traffic;
  traffic.ranks = shape.ranks;
  traffic.number = random();
  const unsigned dense = random() % 4;  // 0: everybody to everybody once; 3: seldom
  for (std::uint32_t pair = 0; pair < shape.ranks * shape.ranks; ++pair) {
    std::vector<std::size_t> messages;
    const std::size_t count = dense == 0 ? 1 : dense == 3 ? (random() % 5 == 0 ? 12 : 0) : random() % 4;
    for (std::size_t index = 0; index < count; ++index) messages.push_back(some_bytes(shape, random, most_bytes));
    traffic.bytes.push_back(messages);
  }
  return traffic;
}

// A row of exchanges, publications and other collectives, the same on all ranks.
std::string run_some(const RankSetup& setup, unsigned seed, int calls, std::size_t most_bytes) {
  return run_all(setup, [&](Group& group) -> std::string {
    std::mt19937 random(seed);
    for (int call = 0; call < calls; ++call) {
      const auto form = static_cast<Form>(random() % 3);
      const unsigned what = random() % 4;
      std::string wrong;
      if (what == 0) {
        std::vector<std::size_t> bytes;
        const std::size_t most = random() % 2 == 0 ? most_bytes : setup.shape.cell_bytes;
        for (std::uint32_t rank = 0; rank < group.ranks(); ++rank)
          bytes.push_back(some_bytes(setup.shape, random, most));
        const std::uint64_t number = random();
        wrong = check_publish(group, bytes, number, form, random() % 2 == 0);
      } else if (what == 1 && random() % 2 == 0) {
        const Result result = barrier(group);
        if (result != Result::ok) wrong = result_name(result);
      } else {
        wrong = check_exchange(group, some_traffic(setup.shape, random, most_bytes), form);
      }
      if (!wrong.empty()) return fmt::format("seed {}, call {}: {}", seed, call, wrong);
    }
    return "";
  });
}

struct Axis {
  std::uint32_t ranks;
  Waiting waiting;
  bool small, threads, single_copy;
  int calls;
};

class Exchanges : public testing::TestWithParam<Axis> {};

TEST_P(Exchanges, OfRandomMessages) {
  const Axis& axis = GetParam();
  RankSetup setup = setup_of(axis.ranks, axis.small, axis.single_copy);
  setup.waiting = axis.waiting;
  setup.threads = axis.threads;
  const int calls = axis.calls * (test_fully() ? 20 : 1);
  EXPECT_EQ(run_some(setup, 17 + axis.ranks, calls, axis.small ? 20000 : 300000), "");
}

std::string axis_name(const testing::TestParamInfo<Axis>& info) {
  const Axis& axis = info.param;
  return fmt::format("{}_{}_{}_{}_{}", axis.ranks, shared_memory::waiting_name(axis.waiting),
                     axis.small ? "small" : "usual", axis.threads ? "threads" : "processes",
                     axis.single_copy ? "single" : "double");
}

INSTANTIATE_TEST_SUITE_P(
    Each, Exchanges,
    testing::Values(Axis{1, Waiting::automatic, false, false, true, 50},
                    Axis{2, Waiting::automatic, false, false, true, 200},
                    Axis{2, Waiting::spin, true, true, false, 300}, Axis{2, Waiting::spin, true, false, true, 300},
                    Axis{2, Waiting::sleep, true, false, true, 300}, Axis{3, Waiting::yield, false, true, false, 60},
                    Axis{3, Waiting::sleep, true, true, true, 200}, Axis{4, Waiting::automatic, true, false, true, 200},
                    Axis{5, Waiting::yield, true, false, true, 100}, Axis{6, Waiting::automatic, true, true, true, 60},
                    Axis{7, Waiting::sleep, true, false, false, 50}, Axis{8, Waiting::yield, true, false, true, 40},
                    Axis{9, Waiting::automatic, true, true, true, 40}, Axis{9, Waiting::sleep, false, false, true, 12}),
    axis_name);

// Blocks of equal bytes: every algorithm, forced, at the sizes at which something changes, in every form; and ranks
// that expect other bytes than come.
std::vector<std::size_t> block_sizes(const GroupShape& shape) {
  std::vector<std::size_t> all{1, 7, 8, 9, 47, 48, 49, 300, 4096, 8192, 32768};
  const std::size_t cell = shape.cell_bytes, chunk = shape.slot_bytes;
  for (const std::size_t edge :
       {most_inline_bytes / std::size_t{shape.ranks}, cell / shape.ranks, chunk / (shape.ranks - 1), chunk, 2 * chunk})
    for (const std::size_t bytes : {edge - 1, edge, edge + 1}) all.push_back(bytes);
  return all;
}

constexpr Kind block_kinds[] = {Kind::gather, Kind::scatter, Kind::allgather, Kind::alltoall};

std::string run_blocks(const RankSetup& setup, unsigned seed, int calls, std::set<std::string>& done) {
  const std::vector<std::size_t> sizes = block_sizes(setup.shape);
  // Ranks may be threads: nothing here is shared that changes.
  const auto entry_for = [&setup](Kind kind, std::size_t bytes) -> const AlgorithmEntry& {
    return choose(setup.selection, kind,
                  {bytes, setup.shape.ranks, setup.shape.cell_bytes, false, false, setup.shape.slot_bytes});
  };
  for (const Kind kind : block_kinds)
    for (const std::size_t bytes : sizes)
      if (const AlgorithmEntry& entry = entry_for(kind, bytes); entry.run.blocks)
        done.insert(std::string(kind_name(kind)) + ' ' + entry.name);
  return run_all(setup, [&](Group& group) -> std::string {
    std::mt19937 random(seed);
    for (int call = 0; call < calls; ++call) {
      const Kind kind = block_kinds[random() % std::size(block_kinds)];
      const std::size_t bytes = sizes[random() % sizes.size()];
      const auto form = static_cast<Form>(random() % 3);
      const bool in_place = random() % 3 == 0, uneven = random() % 8 == 0;
      const std::size_t room = uneven ? bytes / 2 + random() % (2 * bytes) : bytes;
      if (random() % 4 == 0) barrier(group);
      if (!entry_for(kind, bytes).run.blocks) continue;
      if (std::string wrong = check_blocks(group, kind, bytes, room, random(), form, in_place); !wrong.empty())
        return fmt::format("seed {}, call {}: {}", seed, call, wrong);
    }
    return "";
  });
}

TEST(Blocks, OfEveryAlgorithm) {
  std::set<std::string> done, all;
  for (const AlgorithmEntry& entry : algorithms())
    if (entry.run.blocks) all.insert(std::string(kind_name(entry.kind)) + ' ' + entry.name);
  ASSERT_FALSE(all.empty());
  for (const std::uint32_t count : {2, 3, 4, 5, 6, 7, 8, 9, 16})
    for (const bool small : {false, true})
      for (const char* forced : {"", "allgather=pair,alltoall=pair", "alltoall=cells,gather=cells,scatter=cells",
                                 "alltoall=mesh", "gather=chunks,scatter=chunks"}) {
        RankSetup setup = setup_of(count, small, true);
        setup.waiting = count % 2 == 0 ? Waiting::automatic : Waiting::sleep;
        setup.threads = small && count % 3 == 0;
        std::string complaint;
        setup.selection = plan::select_collectives({false, "", forced}, complaint, setup.selection);
        ASSERT_EQ(complaint, "");
        const int calls = (test_fully() ? 2000 : 100) / static_cast<int>(count > 4 ? 4 : 1);
        EXPECT_EQ(run_blocks(setup, 31 + count, calls, done), "") << count << ' ' << small << ' ' << forced;
      }
  EXPECT_EQ(done, all);
}

// Slots are eight: who sends and goes on waits where the ninth would be.
TEST(Blocks, OfSendersThatRunAhead) {
  constexpr std::size_t bytes = 5000;
  constexpr int calls = 200, calls_between_naps = 20;
  for (const std::uint32_t count : {2, 3, 5})
    for (const Kind kind : {Kind::gather, Kind::scatter}) {
      RankSetup setup = setup_of(count, false, false);
      setup.timeout_seconds = 20;
      EXPECT_EQ(
          run_all(setup,
                  [kind](Group& group) -> std::string {
                    const std::uint32_t ranks = group.ranks(), self = group.rank();
                    const auto byte = [](int call, std::uint32_t rank) { return static_cast<char>(7 * call + rank); };
                    std::vector<char> sent(bytes * ranks), came(bytes * ranks);
                    std::vector<Data> from, to;
                    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                      from.push_back({bytes, sent.data() + rank * bytes, nullptr, nullptr});
                      to.push_back({bytes, came.data() + rank * bytes, nullptr, nullptr});
                    }
                    const std::span<const Data> none, own_sent(from.data() + self, 1), own_came(to.data() + self, 1);
                    const bool gathers = kind == Kind::gather, takes = (self == 0) == gathers;
                    for (int call = 0; call < calls; ++call) {
                      if (takes && call % calls_between_naps == 0) usleep(2000);
                      for (std::uint32_t rank = 0; rank < ranks; ++rank)
                        std::fill_n(sent.data() + rank * bytes, bytes, byte(call, rank));
                      const std::span<const Data> sends = gathers     ? own_sent
                                                          : self == 0 ? std::span<const Data>(from)
                                                                      : none;
                      const std::span<const Data> receives = !gathers    ? own_came
                                                             : self == 0 ? std::span<const Data>(to)
                                                                         : none;
                      const Result result = exchange_blocks(group, kind, bytes, sends, receives, 0);
                      if (result != Result::ok) return result_name(result);
                      for (std::uint32_t rank = 0; takes && rank < ranks; ++rank)
                        if (gathers || rank == self)
                          for (std::size_t at = 0; at < bytes; ++at)
                            if (came[rank * bytes + at] != byte(call, rank))
                              return fmt::format("call {}, rank {}, at {}", call, rank, at);
                    }
                    return "";
                  }),
          "")
          << kind_name(kind) << ' ' << count;
    }
}

// A rank whose block is longer than what the other one sends and has room for: both go on to the end of the longer one.
TEST(Blocks, OfTwoLengths) {
  RankSetup setup = setup_of(2, true, true);
  std::string complaint;
  setup.selection = plan::select_collectives({false, "", "alltoall=pair"}, complaint, setup.selection);
  for (const auto& [zero, one] : {std::pair<std::size_t, std::size_t>{1, 8}, {1000, 9}, {1100, 9000}, {5000, 1025}})
    EXPECT_EQ(run_all(setup,
                      [zero = zero, one = one](Group& group) -> std::string {
                        const std::size_t own = group.rank() == 0 ? zero : one, other = group.rank() == 0 ? one : zero;
                        for (int call = 0; call < 5; ++call) {
                          std::vector<char> sent(own, static_cast<char>('a' + call)), came(own + 1, 'o');
                          const Data mine{own, sent.data(), nullptr, nullptr};
                          std::vector<Data> received{{own, came.data(), nullptr, nullptr}, {}};
                          if (group.rank() == 0) std::swap(received[0], received[1]);
                          const Data sent_to[] = {mine, mine};
                          const Result result = exchange_blocks(group, Kind::alltoall, own, sent_to, received);
                          if (result != (other > own ? Result::truncated : Result::ok)) return result_name(result);
                          const std::size_t length = std::min(own, other);
                          for (std::size_t at = 0; at <= own; ++at)
                            if (came[at] != (at < length ? 'a' + call : 'o')) return fmt::format("wrong at {}", at);
                          if (barrier(group) != Result::ok) return "no barrier";
                        }
                        return "";
                      }),
              "")
        << zero << ' ' << one;
}

// Lengths that go different ways: an error on both, not a wait without end.
TEST(Blocks, OfTwoWays) {
  RankSetup setup = setup_of(2, true, true);
  setup.selection.block_pair_bytes = never;
  for (const auto& [zero, one] : {std::pair<std::size_t, std::size_t>{8, 9}, {1024, 1025}})
    EXPECT_EQ(run_all(setup,
                      [zero = zero, one = one](Group& group) -> std::string {
                        const std::size_t own = group.rank() == 0 ? zero : one;
                        std::vector<char> sent(own), came(2 * own);
                        const Data mine{own, sent.data(), nullptr, nullptr};
                        const Data received[] = {{own, came.data(), nullptr, nullptr},
                                                 {own, came.data() + own, nullptr, nullptr}};
                        const Result result = exchange_blocks(group, Kind::allgather, own, {&mine, 1}, received);
                        return result == Result::mismatch ? "" : result_name(result);
                      }),
              "")
        << zero << ' ' << one;
}

// In a mesh others gather for a rank, who go by their own length: an error on all, no wrong data.
TEST(Blocks, OfTwoLengthsInAMesh) {
  for (const std::uint32_t odd : {0u, 3u, 6u}) {
    RankSetup setup = setup_of(7, false, true);
    setup.selection.alltoall_mesh_ranks = 3;
    EXPECT_EQ(run_all(setup,
                      [odd](Group& group) -> std::string {
                        const std::size_t bytes = group.rank() == odd ? 24 : 16;
                        std::vector<char> sent(7 * bytes), came(7 * bytes);
                        std::vector<Data> from, to;
                        for (std::uint32_t rank = 0; rank < 7; ++rank) {
                          from.push_back({bytes, sent.data() + rank * bytes, nullptr, nullptr});
                          to.push_back({bytes, came.data() + rank * bytes, nullptr, nullptr});
                        }
                        const Result result = exchange_blocks(group, Kind::alltoall, bytes, from, to);
                        return result == Result::mismatch ? "" : result_name(result);
                      }),
              "")
        << odd;
  }
}

// Whether memory may be read is one answer for all, and Bcast through it is right for every size that it may get.
TEST(SingleCopy, OfBcast) {
  for (const bool threads : {false, true}) {
    RankSetup setup = setup_of(3, false, true);
    setup.threads = threads;
    setup.selection.bcast_cells_bytes = setup.selection.bcast_single_copy_bytes = 0;
    setup.selection.bcast_single_copy_ranks = never;
    const std::string wrong = run_all(setup, [](Group& group) -> std::string {
      std::uint32_t root = 0;
      for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{131072}, std::size_t{5000001}}) {
        for (int repeat = 0; repeat < 10; ++repeat, root = (root + 1) % group.ranks()) {
          std::vector<char> buffer(bytes + 1, group.rank() == root ? static_cast<char>(repeat + 1) : 'o');
          if (const Result result = bcast(group, buffer.data(), bytes, root); result != Result::ok)
            return result_name(result);
          const char expected = static_cast<char>(repeat + 1);
          if (std::count(buffer.begin(), buffer.end() - 1, expected) != static_cast<std::ptrdiff_t>(bytes))
            return "wrong data";
          if (group.rank() != root && buffer[bytes] != 'o') return "wrote past the end";
          buffer.assign(bytes + 1, 'z');  // the root's may be overwritten when it returns
        }
      }
      return "";
    });
    EXPECT_EQ(wrong, "");
  }
}

TEST(SingleCopy, IsOffWhereTheSettingsSaySo) {
  EXPECT_EQ(run_all(setup_of(2, false, false),
                    [](Group& group) -> std::string { return group.reads_memory() ? "reads" : ""; }),
            "");
}

}  // namespace
}  // namespace millrace::collective::test
