// Ranks that disagree and ranks that die: the others are told, nobody hangs, nothing is overwritten.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "collective/collective.h"
#include "operations.h"
#include "ranks.h"

namespace millrace::collective::test {
namespace {

constexpr int kind_count = 6;

const Reducer& sum_f64() { return operations()[2].reducer; }

// One call, of kind `which`, with a message of `bytes`.
Result call(Group& group, int which, std::size_t bytes, std::uint32_t root) {
  std::vector<char> in(bytes), out(bytes);
  switch (which) {
    case 0: return barrier(group);
    case 1: return bcast(group, in.data(), bytes, root);
    case 2: return reduce(group, in.data(), out.data(), bytes / 8, sum_f64(), root);
    case 3: return allreduce(group, in.data(), out.data(), bytes / 8, sum_f64());
    case 4: {
      std::vector<std::size_t> counts(group.ranks(), 0), begins(group.ranks());
      counts[1] = bytes / 8;  // of everybody's, as large as a message of the others
      return reduce_scatter(group, in.data(), out.data(), Blocking(counts, begins), sum_f64());
    }
    default: return scan(group, in.data(), out.data(), bytes / 8, sum_f64());
  }
}

// Rank 0 makes one call, the others another, and then all a barrier: at the latest there everybody knows.
std::string disagree(int first_kind, std::size_t first_bytes, int second_kind, std::size_t second_bytes,
                     std::uint32_t second_root = 0) {
  RankSetup setup = ranks(3);
  setup.timeout_seconds = 20;
  return run_all(setup, [&](Group& group) -> std::string {
    Result result = barrier(group);
    if (result == Result::ok)
      result = group.rank() == 0 ? call(group, first_kind, first_bytes, 0)
                                 : call(group, second_kind, second_bytes, second_root);
    if (result == Result::ok) result = barrier(group);
    return result == Result::mismatch ? "" : std::string("no mismatch but: ") + result_name(result);
  });
}

TEST(Mismatch, OfKinds) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20})
    for (int first = 0; first < kind_count; ++first)
      for (int second = 0; second < kind_count; ++second)
        if (first != second) {
          EXPECT_EQ(disagree(first, bytes, second, bytes), "") << first << ' ' << second << ' ' << bytes;
        }
}

TEST(Mismatch, OfSizes) {
  for (int kind = 1; kind < kind_count; ++kind)
    for (const auto& [first, second] : {std::pair<std::size_t, std::size_t>{8, 16},
                                        {16, 8},
                                        {4096, 8},
                                        {8, 1 << 20},
                                        {1 << 20, 8},
                                        {1 << 20, 2 << 20},
                                        {2 << 20, 1 << 20},
                                        {0, 8},
                                        {8, 0}}) {
      const bool same_algorithm = (first > 4096) == (second > 4096) && first != 0 && second != 0;
      if (kind == 1 && same_algorithm) continue;  // below
      EXPECT_EQ(disagree(kind, first, kind, second), "") << kind << ' ' << first << ' ' << second;
    }
}

// Blocks of other sizes, the same number of elements in all.
TEST(Mismatch, OfBlocks) {
  for (const std::size_t elements : {std::size_t{6}, std::size_t{60000}})
    EXPECT_EQ(run_all(ranks(3),
                      [elements](Group& group) -> std::string {
                        std::vector<std::size_t> counts{elements / 2, elements / 3, elements / 6}, begins(3);
                        if (group.rank() == 0) std::swap(counts[0], counts[1]);
                        std::vector<double> in(elements), out(elements);
                        Result result = barrier(group);
                        if (result == Result::ok)
                          result = reduce_scatter(group, in.data(), out.data(), Blocking(counts, begins), sum_f64());
                        if (result == Result::ok) result = barrier(group);
                        return result == Result::mismatch ? "" : result_name(result);
                      }),
              "")
        << elements;
}

// Whoever reads the chunks of another call does not take them for its own.
TEST(Mismatch, IsFoundBeforeDataAreUsed) {
  for (const int kind : {4, 5})
    EXPECT_EQ(run_all(ranks(3),
                      [kind](Group& group) -> std::string {
                        Result result = barrier(group);
                        if (result != Result::ok) return result_name(result);
                        result = call(group, group.rank() == 0 ? 3 : kind, 1 << 20, 0);
                        return result == Result::mismatch ? "" : std::string("used: ") + result_name(result);
                      }),
              "")
        << kind;
}

// As many chunks, of which the last is shorter on one rank; also in longer rings.
TEST(Mismatch, OfSizesIsFoundBeforeDataAreUsed) {
  for (const std::uint32_t slots : {8u, 16u}) {
    RankSetup setup = ranks(3);
    setup.shape.slots = slots;
    setup.selection.allreduce_chain_bytes = never;
    EXPECT_EQ(run_all(setup,
                      [](Group& group) -> std::string {
                        Result result = barrier(group);
                        if (result != Result::ok) return result_name(result);
                        result = call(group, 3, (std::size_t{1} << 20) - (group.rank() == 0 ? 8 : 0), 0);
                        return result == Result::mismatch ? "" : std::string("used: ") + result_name(result);
                      }),
              "")
        << slots;
  }
}

// Integers go along a tree, floating-point numbers of as many bytes do not: nobody waits for ever.
TEST(Mismatch, OfTypesOfWhichOneGoesAlongATree) {
  RankSetup setup = ranks(2);
  setup.selection.roomy_ranks = setup.selection.reduce_any_order_tree_ranks = 2;
  const auto reduce_all = [](Group& group, bool is_same_type) -> std::string {
    static const Reducer sum_i64 = kernel_reducer(kernel::Op::sum, kernel::Type::i64);
    const std::int64_t in = group.rank() + 1;
    std::int64_t out = 0;
    Result result = reduce(group, &in, &out, 1, is_same_type || group.rank() == 0 ? sum_i64 : sum_f64(), 0);
    if (group.crowded()) return "";  // a tree needs a core for each
    if (is_same_type && group.rank() == 0 && out != 3) return "wrong sum";
    if (result == Result::ok) result = barrier(group);
    return result == (is_same_type ? Result::ok : Result::mismatch) ? "" : result_name(result);
  };
  for (const bool is_same_type : {true, false})
    EXPECT_EQ(run_all(setup, [&](Group& group) { return reduce_all(group, is_same_type); }), "") << is_same_type;
}

// In a mesh who reduces what hangs on the size of an element.
TEST(Mismatch, OfElementsInAMesh) {
  RankSetup setup = ranks(5);
  setup.selection.barrier_mesh_ranks = setup.selection.reduce_mesh_ranks = setup.selection.allreduce_mesh_ranks = 3;
  for (const bool everywhere : {false, true})
    for (const bool is_same_type : {true, false})
      EXPECT_EQ(run_all(setup,
                        [&](Group& group) -> std::string {
                          static const Reducer sum_f32 = kernel_reducer(kernel::Op::sum, kernel::Type::f32);
                          const double in[4] = {1, 2, 3, 4};
                          double out[4] = {};
                          const bool is_other = !is_same_type && group.rank() == 1;
                          const Reducer& sum = is_other ? sum_f32 : sum_f64();
                          Result result = everywhere ? allreduce(group, in, out, is_other ? 8 : 4, sum)
                                                     : reduce(group, in, out, is_other ? 8 : 4, sum, 0);
                          const bool has_result = everywhere || group.rank() == 0;
                          if (is_same_type && has_result && out[3] != 20) return "wrong sum";
                          if (result == Result::ok) result = barrier(group);
                          return result == (is_same_type ? Result::ok : Result::mismatch) ? "" : result_name(result);
                        }),
                "")
          << everywhere << ' ' << is_same_type;
}

// The root of a Bcast sends more or less than the others expect; then all go on.
TEST(Mismatch, OfSizesOfBcast) {
  for (const std::uint32_t count : {2u, 3u})
    for (const auto& [sent, expected] : {std::pair<std::size_t, std::size_t>{8, 16},
                                         {16, 8},
                                         {100, 4096},
                                         {4096, 8},
                                         {5000, 60000},
                                         {60000, 5000},
                                         {100000, 200000},
                                         {200000, 100000},
                                         {1 << 20, 2 << 20},
                                         {2 << 20, 1 << 20}})
      EXPECT_EQ(run_all(ranks(count),
                        [sent = sent, expected = expected](Group& group) -> std::string {
                          for (std::uint32_t root = 0; root < group.ranks(); ++root) {
                            const std::size_t bytes = group.rank() == root ? sent : expected;
                            std::vector<char> buffer(bytes + 10, group.rank() == root ? 'x' : 'o');
                            std::size_t came = 0;
                            const Result result = bcast(group, buffer.data(), bytes, root, &came);
                            if (result != (sent > bytes ? Result::truncated : Result::ok)) return result_name(result);
                            if (came != sent) return "came";
                            const auto what_came = std::count(buffer.begin(), buffer.end(), 'x');
                            if (group.rank() != root && what_came != static_cast<long>(std::min(sent, bytes)))
                              return "wrong data";
                          }
                          const Result result = barrier(group);
                          return result == Result::ok ? "" : result_name(result);
                        }),
                "")
          << sent << ' ' << expected;
}

TEST(Mismatch, OfRoots) {
  for (const int kind : {1, 2})
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20})
      EXPECT_EQ(disagree(kind, bytes, kind, bytes, 1), "") << kind << ' ' << bytes;
}

// Rank 1 dies in the middle of a row of calls; the others notice within two seconds.
void die(int kind, std::size_t bytes, Waiting waiting) {
  RankSetup setup = ranks(3);
  setup.waiting = waiting;
  setup.timeout_seconds = 20;
  const auto outcomes = run_ranks(setup, [&](Group& group) -> std::string {
    using Clock = std::chrono::steady_clock;
    for (int count = 0; count < 100; ++count) {
      if (count == 50 && group.rank() == 1) raise(SIGKILL);
      const auto begin = Clock::now();
      const Result result = call(group, kind, bytes, 0);
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (seconds > 2) return "took " + std::to_string(seconds) + " s";
      if (result == Result::peer_died) return call(group, 0, 0, 0) == result ? "" : "forgot that a peer died";
      if (result != Result::ok) return result_name(result);
    }
    const Result result = barrier(group);  // who ran ahead learns it here
    return result == Result::peer_died ? "" : "did not notice";
  });
  EXPECT_EQ(outcomes[0], "") << kind << ' ' << bytes;
  EXPECT_EQ(outcomes[2], "") << kind << ' ' << bytes;
}

TEST(Death, OfAPeer) {
  for (int kind = 0; kind < kind_count; ++kind)
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20}) die(kind, bytes, Waiting::automatic);
  for (const Waiting waiting : {Waiting::spin, Waiting::yield, Waiting::sleep}) die(3, 8, waiting);
}

// A process that has left is free to end while others still work.
TEST(Death, AfterLeavingIsNone) {
  EXPECT_EQ(run_all(ranks(2),
                    [](Group& group) -> std::string {
                      if (group.rank() == 1) {
                        const Result result = call(group, 2, 8, 0);
                        group.leave();
                        return result == Result::ok ? "" : result_name(result);
                      }
                      std::this_thread::sleep_for(std::chrono::milliseconds(700));
                      const Result result = call(group, 2, 8, 0);
                      return result == Result::ok ? "" : result_name(result);
                    }),
            "");
}

// The host may know sooner.
bool host_is_well = true;

TEST(Death, SaidByTheHost) {
  RankSetup setup = ranks(2);
  setup.progress = [](void*) { return host_is_well; };
  setup.timeout_seconds = 20;
  const auto outcomes = run_ranks(setup, [](Group& group) -> std::string {
    if (group.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      return "";
    }
    host_is_well = false;
    const Result result = barrier(group);
    return result == Result::peer_died ? "" : result_name(result);
  });
  EXPECT_EQ(outcomes[0], "");
}

}  // namespace
}  // namespace millrace::collective::test
