// Collectives of ranks on several nodes, which are pretended (group_wire.h): all kinds, all roots, all ways in which
// ranks can lie on nodes.
#include "collective/across/across.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "../calls.h"
#include "../messages.h"
#include "../ranks.h"
#include "collective/collective.h"
#include "group_wire.h"

namespace millrace::collective::test {
namespace {

using Names = std::vector<std::uint32_t>;

struct Placement {
  const char* name;
  Names nodes;  // of each rank
};

const Placement placements[] = {
    {"1_1", {0, 1}},
    {"2_2", {0, 0, 1, 1}},
    {"2_2_by_turns", {0, 1, 0, 1}},
    {"3_1", {0, 0, 0, 1}},
    {"1_3", {5, 2, 2, 2}},
    {"2_1_4", {0, 0, 1, 2, 2, 2, 2}},
    {"mixed", {0, 1, 1, 0, 2, 1}},
    {"1_1_1", {0, 1, 2}},
    {"2_2_2", {0, 0, 1, 1, 2, 2}},
};

using Check = std::function<std::string(Group& group, const NodeMap& map)>;

std::string on(const Placement& placement, const Check& check) {
  const PretendedNodes nodes(placement.nodes);
  return run_all(ranks(nodes.ranks()), [&](Group& everybody) -> std::string {
    PretendedRank own;
    if (std::string failed = own.join(nodes, everybody.rank()); !failed.empty()) return failed;
    std::string wrong = check(own.group(), own.group().across()->map());
    if (!wrong.empty()) own.give_up();
    return wrong;
  });
}

class AcrossPlacements : public testing::TestWithParam<Placement> {};

// An operation whose result does not hang on where brackets stand.
bool is_exact(const Operation& operation) { return operation.any_order || operation.reducer.user != nullptr; }

class NoWire final : public Wire {
 public:
  void begin(std::uint64_t) override {}
  void refuse() override {}
  Result barrier(Line) override { return Result::rank_failed; }
  Result bcast(Line, void*, std::size_t, std::uint32_t) override { return Result::rank_failed; }
  Result allreduce(Line, void*, std::size_t, const Reducer&, std::span<char>) override { return Result::rank_failed; }
  Result reduce(Line, const void*, void*, std::size_t, const Reducer&, std::uint32_t) override {
    return Result::rank_failed;
  }
  Result reduce_scatter(Line, const void*, void*, std::span<const std::size_t>, const Reducer&,
                        std::span<char>) override {
    return Result::rank_failed;
  }
  Result exscan(Line, void*, std::size_t, const Reducer&) override { return Result::rank_failed; }
  Result allgather(Line, char*, std::span<const std::size_t>) override { return Result::rank_failed; }
  bool reaches(std::span<char* const>, std::size_t) const override { return false; }
  Result allgather_rows(Line, std::span<char* const>, std::size_t) override { return Result::rank_failed; }
  Result gather(Line, char*, std::span<const std::size_t>, std::uint32_t) override { return Result::rank_failed; }
  Result scatter(Line, char*, std::span<const std::size_t>, std::uint32_t) override { return Result::rank_failed; }
  Result alltoall(Line, const char*, char*, std::span<const std::size_t>, std::size_t) override {
    return Result::rank_failed;
  }
};

const std::size_t sizes[] = {0, 1, 3, 17, 1000, 5000, 70000};

TEST_P(AcrossPlacements, Reductions) {
  prepare_operations();
  EXPECT_EQ(
      on(GetParam(),
         [](Group& group, const NodeMap&) -> std::string {
           std::uint64_t number = 0;
           std::size_t done = 0;
           for (const Operation& operation : operations())
             for (const Kind kind : {Kind::reduce, Kind::allreduce, Kind::reduce_scatter, Kind::scan, Kind::exscan})
               for (const std::size_t elements : sizes) {
                 CallCase call{kind, &operation, elements, 0, false, ++number};
                 if (!is_exact(operation) || !group.across()->reduces(kind, operation.reducer)) continue;
                 call.root = static_cast<std::uint32_t>(number % group.ranks());
                 call.in_place = number % 3 == 0 && kind != Kind::reduce_scatter;
                 ++done;
                 if (std::string wrong = check_call(group, call); !wrong.empty()) return call.name() + ": " + wrong;
               }
           return done > 100 ? "" : fmt::format("only {} calls", done);
         }),
      "");
}

// Sums whose bits hang on the order, and all the others: always the left fold in rank order.
TEST_P(AcrossPlacements, RankOrder) {
  prepare_operations();
  EXPECT_EQ(
      on(GetParam(),
         [](Group& group, const NodeMap& map) -> std::string {
           std::uint64_t number = 0;
           for (const Operation& operation : operations()) {
             for (const Kind kind : {Kind::reduce, Kind::allreduce, Kind::reduce_scatter, Kind::scan, Kind::exscan}) {
               for (const std::size_t elements : sizes) {
                 CallCase call{kind, &operation, elements, 0, false, ++number, true};
                 call.root = static_cast<std::uint32_t>(number % map.ranks());
                 call.in_place = number % 3 == 0 && kind != Kind::reduce_scatter;
                 if (!group.across()->reduces(kind, call.reducer())) return "the host's";
                 if (std::string wrong = check_call(group, call); !wrong.empty()) return wrong;
               }
             }
           }
           return "";
         }),
      "");
}

// More than there is room for at a time.
TEST_P(AcrossPlacements, LargeData) {
  forget_arrivals();
  prepare_operations();
  EXPECT_EQ(on(GetParam(),
               [](Group& group, const NodeMap&) -> std::string {
                 const Operation& operation = operations()[3];
                 const std::size_t elements = 3 * Across::room_bytes / operation.element_bytes + 12345;
                 std::uint64_t number = 0;
                 for (const Kind kind : called_kinds) {
                   CallCase call{kind,
                                 kind == Kind::bcast || kind == Kind::barrier ? nullptr : &operation,
                                 kind == Kind::bcast ? 700001 : elements,
                                 1,
                                 false,
                                 ++number};
                   if (call.operation && !group.across()->reduces(kind, operation.reducer)) continue;
                   if (std::string wrong = check_call(group, call); !wrong.empty()) return call.name() + ": " + wrong;
                   if (call.operation) call.in_rank_order = true;
                   if (std::string wrong = check_call(group, call); !wrong.empty()) return call.name() + ": " + wrong;
                 }
                 for (const Kind kind : {Kind::allgather, Kind::gather, Kind::scatter, Kind::alltoall})
                   if (group.across()->moves(kind, 800001))
                     if (std::string wrong = check_blocks(group, kind, 800001, 800001, ++number, Form::rows, false);
                         !wrong.empty())
                       return fmt::format("{}: {}", kind_name(kind), wrong);
                 // Shown in several pieces.
                 for (const Form form : {Form::rows, Form::movers, Form::mixed})
                   if (std::string wrong = check_blocks(group, Kind::allgather, 2 * Across::shown_piece_bytes + 12345,
                                                        2 * Across::shown_piece_bytes + 12345, ++number, form, false);
                       !wrong.empty())
                     return wrong;
                 return "";
               }),
            "");
}

TEST_P(AcrossPlacements, EveryRoot) {
  forget_arrivals();
  prepare_operations();
  EXPECT_EQ(on(GetParam(),
               [](Group& group, const NodeMap&) -> std::string {
                 std::uint64_t number = 0;
                 for (std::uint32_t root = 0; root < group.ranks(); ++root)
                   for (const std::size_t elements : {1, 40, 3000, 300001})
                     for (const Kind kind : {Kind::bcast, Kind::barrier, Kind::reduce}) {
                       const CallCase call{kind, kind == Kind::reduce ? &operations()[3] : nullptr, elements,
                                           root, number % 2 == 0 && kind == Kind::reduce,           ++number};
                       if (std::string wrong = check_call(group, call); !wrong.empty())
                         return call.name() + ": " + wrong;
                     }
                 return "";
               }),
            "");
}

TEST_P(AcrossPlacements, Blocks) {
  EXPECT_EQ(on(GetParam(),
               [](Group& group, const NodeMap&) -> std::string {
                 std::uint64_t number = 0;
                 for (const std::size_t bytes : {1, 8, 100, 4096, 5000, 70001})
                   for (const Kind kind : {Kind::allgather, Kind::gather, Kind::scatter, Kind::alltoall})
                     for (const Form form : {Form::rows, Form::movers, Form::mixed})
                       for (std::uint32_t turn = 0; turn < group.ranks(); ++turn) {
                         ++number;
                         const bool moves = group.across()->moves(kind, bytes);
                         if (!moves) return "moves() is wrong";
                         const bool in_place = number % 3 == 0 && kind != Kind::alltoall;
                         if (std::string wrong = check_blocks(group, kind, bytes, bytes, number, form, in_place);
                             !wrong.empty())
                           return fmt::format("{} of {} bytes, number {}: {}", kind_name(kind), bytes, number, wrong);
                       }
                 return "";
               }),
            "");
}

// Blocks of different sizes, of none, and of more than there is room for at a time.
TEST_P(AcrossPlacements, UnevenBlocks) {
  EXPECT_EQ(on(GetParam(),
               [](Group& group, const NodeMap&) -> std::string {
                 std::mt19937 random(77);
                 for (std::uint64_t number = 1; number <= 60; ++number) {
                   const std::size_t most[] = {2, 100, 5000, 800001};
                   std::vector<std::size_t> bytes(group.ranks());
                   for (std::size_t& each : bytes) each = random() % 3 == 0 ? 0 : random() % most[number % 4];
                   const Form form = std::array{Form::rows, Form::movers, Form::mixed}[number % 3];
                   if (!group.across()->publishes()) return "the host's";
                   if (std::string wrong = check_publish(group, bytes, number, form, number % 2 == 0); !wrong.empty())
                     return wrong;
                 }
                 return "";
               }),
            "");
}

// Calls of all kinds, one after the other, with ranks that run ahead of each other.
TEST_P(AcrossPlacements, RandomCalls) {
  forget_arrivals();
  prepare_operations();
  EXPECT_EQ(on(GetParam(),
               [](Group& group, const NodeMap&) -> std::string {
                 std::mt19937 random(42);
                 for (std::uint64_t number = 1; number <= 600; ++number) {
                   const unsigned what = random(), size = random() % 4000, root = random() % group.ranks();
                   if (what % 3 == 0) {
                     const Kind kinds[] = {Kind::allgather, Kind::gather, Kind::scatter, Kind::alltoall};
                     const Kind kind = kinds[what / 3 % 4];
                     if (!group.across()->moves(kind, size + 1)) continue;
                     if (std::string wrong = check_blocks(group, kind, size + 1, size + 1, number, Form::mixed, false);
                         !wrong.empty())
                       return fmt::format("{} of {} bytes: {}", kind_name(kind), size + 1, wrong);
                     continue;
                   }
                   const Kind kind = called_kinds[what / 3 % std::size(called_kinds)];
                   const bool reduces = kind != Kind::bcast && kind != Kind::barrier;
                   const CallCase call{kind, reduces ? &operations()[3] : nullptr, size, root, false, number};
                   if (reduces && !group.across()->reduces(kind, operations()[3].reducer)) continue;
                   if (std::string wrong = check_call(group, call); !wrong.empty()) return call.name() + ": " + wrong;
                 }
                 return "";
               }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Placed, AcrossPlacements, testing::ValuesIn(placements),
                         [](const testing::TestParamInfo<Placement>& each) { return each.param.name; });

// Whether an element of every rank's block has room: else no piece of a Reduce_scatter would ever be the last.
TEST(Across, LeavesElementsToTheHostThatHaveNoRoom) {
  std::vector<std::uint32_t> names(200);
  for (std::uint32_t rank = 0; rank < names.size(); ++rank) names[rank] = rank / 100;
  NodeMap map;
  ASSERT_TRUE(map.build(names));
  NoWire wire;
  Across across;
  ASSERT_TRUE(across.open(std::move(map), 0, nullptr, wire, {}));
  Reducer reducer;
  reducer.element_bytes = 8;
  EXPECT_TRUE(across.reduces(Kind::reduce_scatter, reducer));
  reducer.element_bytes = Across::room_bytes / 200;
  EXPECT_TRUE(across.reduces(Kind::reduce_scatter, reducer));
  ++reducer.element_bytes;
  EXPECT_FALSE(across.reduces(Kind::reduce_scatter, reducer));
}

// A rank alone on its node, whose host says no.
TEST(Across, AWireThatFailsBreaksTheGroup) {
  NodeMap map;
  ASSERT_TRUE(map.build(std::vector<std::uint32_t>{0, 1}));
  NoWire wire;
  Across across;
  ASSERT_TRUE(across.open(std::move(map), 0, nullptr, wire, {}));
  EXPECT_EQ(across.barrier(), Result::rank_failed);
  char byte = 0;
  EXPECT_EQ(across.bcast(&byte, 1, 1), Result::rank_failed);
}

TEST(Across, AFailureReachesTheNode) {
  EXPECT_EQ(on(placements[1],
               [](Group& group, const NodeMap& map) -> std::string {
                 if (map.node_of(group.rank()) == 0 && map.place_of(group.rank()) == 1) {
                   group.fail(Result::rank_failed);
                   return barrier(group) == Result::rank_failed ? "" : "went on";
                 }
                 if (map.node_of(group.rank()) == 1) return "";  // the host tells them
                 return barrier(group) == Result::rank_failed ? "" : "did not hear of it";
               }),
            "");
}

}  // namespace
}  // namespace millrace::collective::test
