// The algorithms as they are, on machines that are not here.
#include "model/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/collective.h"
#include "questions.h"

namespace millrace::model {
namespace {

using collective::Kind;

Question ask(const char* topology, Kind kind, std::size_t bytes, const char* algorithm = "") {
  Question question = ask_of(topology, kind, bytes);
  std::string complaint;
  question.selection = plan::select_collectives({.tree = {}, .force = algorithm}, complaint);
  EXPECT_EQ(complaint, "");
  return question;
}

Answer right(const Question& question) {
  Answer answer = simulate(question);
  EXPECT_EQ(answer.failure, "");
  EXPECT_TRUE(answer.is_right);
  return answer;
}

// Two ranks write their flag at 7 and each reads the other's.
TEST(Simulation, BarrierOfTwoIsALine) {
  EXPECT_DOUBLE_EQ(right(ask("core:2", Kind::barrier, 0)).call_ns, 107);
  EXPECT_DOUBLE_EQ(right(ask("pack:2 core:1", Kind::barrier, 0)).call_ns, 10007);
}

// Each of four reads three flags, which are all there: it asks for the next before it has this one.
TEST(Simulation, BarrierOfFourByCells) {
  EXPECT_DOUBLE_EQ(right(ask("core:4", Kind::barrier, 0, "barrier=cells")).call_ns, 127);
  // Rank 0: two lines across caches, and one within, which has come by then.
  const Answer answer = right(ask("pack:1 l3:2 core:2", Kind::barrier, 0, "barrier=cells"));
  EXPECT_DOUBLE_EQ(answer.call_ns, 1027);
  EXPECT_DOUBLE_EQ(answer.ranks[0].waited_ns, 1010);
}

// Who waits for a flag has asked for no other: the next is a whole line again.
TEST(Simulation, WhoWaitsDoesNotAskAhead) {
  Question question = ask("core:3", Kind::barrier, 0, "barrier=tree");
  question.selection.tree = question.selection.gather_tree = {.kind = collective::TreeKind::kary, .arity = 2};
  // Both children write at 7; rank 0 has waited for neither, writes at 117, and both see it at 217.
  EXPECT_DOUBLE_EQ(right(question).call_ns, 7 + 110 + 100);
  // In a row: 1 hears from 2, 0 from 1, and back.
  question.selection.tree.arity = question.selection.gather_tree.arity = 1;
  EXPECT_DOUBLE_EQ(right(question).call_ns, 7 + 4 * 100);
}

// A chunk of one line has one slice, which rank 0 reduces: it alone looks at everybody, everybody at it alone.
TEST(Simulation, WhoHasNoSliceLooksAtThoseWhoHave) {
  for (const Kind kind : {Kind::reduce, Kind::allreduce}) {
    const Answer answer = right(ask("core:32", kind, 64, "reduce=slices,allreduce=slices"));
    for (std::size_t rank = 0; rank < answer.ranks.size(); ++rank) {
      const std::vector<Event>& events = answer.ranks[rank].events;
      const auto waits =
          std::count_if(events.begin(), events.end(), [](const Event& event) { return event.doing == Doing::wait; });
      EXPECT_EQ(waits, rank == 0 ? 31 : kind == Kind::allreduce ? 1 : 0) << rank;
    }
  }
}

// All want the root's line at once, and each has it for a while.
TEST(Simulation, WhoReadsWhatManyReadIsServedInTurn) {
  Question question = ask("core:5", Kind::bcast, 8, "bcast=cells");
  question.costs.serve_ns = 20;
  std::vector<double> left;
  for (const Timeline& rank : right(question).ranks) left.push_back(rank.left_ns - rank.came_ns);
  std::sort(left.begin(), left.end());
  for (std::size_t at = 2; at < left.size(); ++at) EXPECT_NEAR(left[at] - left[at - 1], 20, 1e-6);
}

// A kernel has instructions of its own, and what caches do not hold comes at the rate of memory: of a copy into the
// buffer that both share the one side, of a reduction of two inputs that lies in it a third: 1.25 + 2 for 1 + 1.5.
TEST(Simulation, KernelsAndMemoryCost) {
  Question question = ask("core:2", Kind::allreduce, 1 << 20);
  const double cached_ns = right(question).call_ns;
  question.costs.cache_bytes = 1 << 20;  // half of what a rank goes through
  question.costs.memory_bytes_per_ns = 0.5;
  EXPECT_NEAR(right(question).call_ns, 1.3 * cached_ns, 0.01 * cached_ns);
  // All of that in a last cache that is as fast as the first.
  question.costs.last_cache_bytes = 1 << 21;
  question.costs.last_bytes_per_ns = 1;
  EXPECT_NEAR(right(question).call_ns, cached_ns, 0.01 * cached_ns);
  question.bytes = 4;
  const double small_ns = right(question).call_ns;
  question.costs.kernel_ns += 40;
  EXPECT_DOUBLE_EQ(right(question).call_ns, small_ns + 40);
}

// Its time is the same whether the bytes are moved or not.
TEST(Simulation, ManyBytesAreNotMoved) {
  Question question = ask("core:8", Kind::allreduce, 1 << 25);
  const Answer moved_not = simulate(question);
  EXPECT_EQ(moved_not.failure, "");
  EXPECT_FALSE(moved_not.is_checked);
  EXPECT_GT(moved_not.call_ns, 1 << 25);
  question.bytes = 1 << 20;
  EXPECT_TRUE(right(question).is_checked);
}

// The root copies 1000 bytes into its cell; who reads them waits for a line of the flag and then for one of the row.
TEST(Simulation, BcastThroughACell) {
  const Answer answer = right(ask("core:2", Kind::bcast, 1000));
  EXPECT_DOUBLE_EQ(answer.ranks[0].left_ns - answer.ranks[0].came_ns, 1007);
  EXPECT_DOUBLE_EQ(answer.ranks[1].left_ns - answer.ranks[1].came_ns, 1007 + 100 + 1000);
  EXPECT_EQ(answer.ranks[1].events.front().other, 0u);
}

// The 65th call writes the cell of the first, which the other rank has read: its lines go back.
TEST(Simulation, WhoWritesWhatAnotherHasReadFetchesIt) {
  Question question = ask("core:2", Kind::bcast, 1024);
  question.costs.taken_at_once = 1;
  question.calls = 63;  // after two
  const Answer answer = right(question);
  const auto is_copy = [](const Event& event) { return event.doing == Doing::copy; };
  const std::vector<Event>& events = answer.ranks[0].events;
  const auto first = std::find_if(events.begin(), events.end(), is_copy);
  const auto last = std::find_if(events.rbegin(), events.rend(), is_copy);
  ASSERT_TRUE(first != events.end() && last != events.rend());
  EXPECT_NEAR(first->until_ns - first->from_ns, 1024, 1e-6);
  EXPECT_NEAR(last->until_ns - last->from_ns, 16 * 100, 1e-6);
}

// Of what ranks of one core read, the first fetches it for all.
TEST(Simulation, OneFetchesForItsCore) {
  Question each = ask("core:4", Kind::bcast, 1000, "bcast=cells"),
           shared = ask("core:2", Kind::bcast, 1000, "bcast=cells");
  shared.ranks = 4;
  const std::uint64_t moved = right(shared).moved_bytes;
  EXPECT_EQ(moved, 64u + 1000u);
  EXPECT_EQ(right(each).moved_bytes, 3 * moved);
}

// Who reads what is there asks ahead, but only so much work ahead: a call is 7 + 8 ns of it, a line takes 100.
TEST(Simulation, WhoReadsLooksSoFarAhead) {
  Question question = ask("core:2", Kind::bcast, 8, "bcast=cells");
  question.calls = 60;
  EXPECT_NEAR(right(question).call_ns, 15, 4);
  question.costs.ahead_ns = 30;
  EXPECT_NEAR(right(question).call_ns, 15 * 100 / 30.0, 4);
}

// A large row that one rank reads is copied by both.
TEST(Simulation, TheOwnerOfARowHelps) {
  Question question = ask("core:2", Kind::bcast, 1 << 20, "bcast=single_copy");
  question.costs.system_bytes_per_ns = 1;
  const double helped_ns = right(question).call_ns;
  question.selection.shared_row_bytes = collective::never;
  EXPECT_NEAR(right(question).call_ns - helped_ns, 1 << 19, 1);
}

double forced_ns(Question question, const std::string& algorithms) {
  std::string complaint;
  question.selection = plan::select_collectives({.tree = {}, .force = algorithms}, complaint);
  EXPECT_EQ(complaint, "");
  return right(question).call_ns;
}

// Of a few bytes among many ranks the root looks at the cells of some, and that is faster.
TEST(Simulation, FewBytesAreGathered) {
  for (const char* const topology : {"pack:1 l3:4 core:8", "pack:2 l3:8 core:8"}) {
    Question question = ask(topology, Kind::reduce, 8);
    question.costs = {};
    question.calls = 16;
    const Answer answer = right(question);
    EXPECT_STREQ(answer.algorithm, "gathered");
    EXPECT_LT(1.2 * answer.call_ns, forced_ns(question, "reduce=cells"));
  }
}

// Where it is chosen it is right, and faster than what took its place before.
TEST(Simulation, SmallCallsOfManyRanksGoThroughAMesh) {
  struct Case {
    Kind kind;
    std::size_t bytes;
    std::vector<const char*> others;
  };
  const Case cases[] = {{Kind::barrier, 0, {"cells", "tree"}},         {Kind::reduce, 256, {"cells", "slices"}},
                        {Kind::reduce, 1024, {"cells", "slices"}},     {Kind::allreduce, 64, {"cells", "slices"}},
                        {Kind::allreduce, 1024, {"cells", "slices"}},  {Kind::alltoall, 8, {"cells"}},
                        {Kind::reduce_scatter, 8, {"cells", "slices"}}};
  for (const char* const topology : {"pack:1 l3:4 core:8", "pack:2 l3:4 core:8", "pack:2 l3:8 core:8"})
    for (const Case& each : cases) {
      const bool is_too_many = each.kind == Kind::alltoall || each.kind == Kind::reduce_scatter;
      if (is_too_many && topology == std::string("pack:2 l3:8 core:8")) continue;
      Question question = ask(topology, each.kind, each.bytes);
      question.costs = {};
      question.calls = 16;
      const Answer answer = right(question);
      const std::string kind = collective::kind_name(each.kind);
      EXPECT_STREQ(answer.algorithm, "mesh") << topology << ' ' << kind << ' ' << each.bytes;
      for (const char* const other : each.others)
        EXPECT_LT(answer.call_ns, forced_ns(question, kind + '=' + other)) << topology << ' ' << kind << ' ' << other;
    }
}

// Whoever comes later looks at what some have gathered.
TEST(Simulation, ScansOfFewBytesAreGathered) {
  for (const char* const topology : {"pack:1 l3:4 core:8", "pack:2 l3:8 core:8"}) {
    Question question = ask(topology, Kind::scan, 8);
    question.costs = {};
    const Answer answer = right(question);
    EXPECT_STREQ(answer.algorithm, "gathered");
    EXPECT_LT(answer.call_ns, forced_ns(question, "scan=cells"));
  }
}

// What is the same in any order goes along a tree among many ranks, and is right and faster.
TEST(Simulation, IntegersGoAlongATree) {
  Question question = ask("pack:2 l3:8 core:8", Kind::reduce, 64);
  question.costs = {};
  question.calls = 16;
  const Answer in_order = right(question);
  EXPECT_STREQ(in_order.algorithm, "mesh");
  question.any_order = true;
  const Answer answer = right(question);
  EXPECT_STREQ(answer.algorithm, "tree");
  EXPECT_LT(answer.call_ns, in_order.call_ns);
}

// Ranks on one core take turns: what one waits for costs a switch.
TEST(Simulation, RanksOnOneCoreTakeTurns) {
  Question question = ask("core:1", Kind::barrier, 0);
  question.ranks = 2;
  EXPECT_GE(right(question).call_ns, question.costs.switch_ns);
}

TEST(Simulation, ResultsAreRight) {
  for (const char* const algorithm :
       {"", "reduce=tree,allreduce=tree,bcast=tree", "reduce=chunks,allreduce=slices,bcast=chunks",
        "reduce=slices,allreduce=chain", "reduce=chain,allreduce=cells", "bcast=single_copy",
        "reduce=mesh,allreduce=mesh", "reduce=gathered"})
    for (const Kind kind : {Kind::bcast, Kind::reduce, Kind::allreduce})
      for (const std::size_t bytes : {4u, 112u, 4096u, 300000u})
        for (const char* const topology : {"core:2", "core:3", "pack:2 l3:2 core:4"})
          right(ask(topology, kind, bytes, algorithm));
}

TEST(Simulation, BlocksAndScansAreRight) {
  for (const Kind kind : modelled_kinds)
    for (const std::size_t bytes : {4u, 100u, 5000u, 70000u})
      for (const char* const topology : {"core:2", "core:3", "pack:2 l3:2 core:4"}) {
        const Answer answer = simulate(ask(topology, kind, bytes));
        const bool has_mail = answer.failure.find("mailboxes") != std::string::npos;
        EXPECT_TRUE(has_mail ? bytes > 4000 && kind >= Kind::gather && kind <= Kind::alltoall : answer.is_right)
            << collective::kind_name(kind) << ' ' << bytes << ' ' << topology << ' ' << answer.failure;
      }
}

// The others write at 15. The root waits for the first, then the next is a whole line again, and the last comes with
// it; its own block goes through scratch.
TEST(Simulation, GatherOfFour) {
  EXPECT_DOUBLE_EQ(right(ask("core:4", Kind::gather, 8)).call_ns, 7 + 8 + 100 + 100 + 10 + 8 + 2 * 8);
}

// Numbers of ranks that no team divides, and elements that no column does.
TEST(Simulation, AMeshIsRight) {
  for (const std::uint32_t ranks : {3u, 5u, 11u, 23u, 37u, 61u, 97u})
    for (const Kind kind : {Kind::barrier, Kind::reduce, Kind::allreduce, Kind::alltoall, Kind::reduce_scatter})
      for (const std::size_t bytes : {4u, 20u, 100u, 516u}) {
        if (kind > Kind::allreduce && bytes > 4) continue;
        Question question = ask("pack:2 l3:8 core:8", kind, kind == Kind::barrier ? 0 : bytes,
                                "barrier=mesh,reduce=mesh,allreduce=mesh,alltoall=mesh,reduce_scatter=mesh");
        question.ranks = ranks;
        question.calls = 3;
        EXPECT_STREQ(right(question).algorithm, "mesh");
      }
}

TEST(Simulation, MoreRanksNeverMoveLess) {
  for (const Kind kind : {Kind::barrier, Kind::bcast, Kind::reduce, Kind::allreduce})
    for (const std::size_t bytes : {8u, 65536u}) {
      std::uint64_t before = 0;
      // From three on: two have algorithms of their own.
      for (std::uint32_t ranks = 3; ranks <= 24; ++ranks) {
        Question question = ask("l3:3 core:8", kind, bytes);
        question.ranks = ranks;
        const std::uint64_t moved = right(question).moved_bytes;
        EXPECT_GE(moved, before) << static_cast<int>(kind) << ' ' << bytes << ' ' << ranks;
        before = moved;
      }
    }
}

// The same each time: no clock of this machine is in it.
TEST(Simulation, IsTheSameEachTime) {
  const Question question = ask("pack:2 l3:8 core:8", Kind::allreduce, 65536);
  EXPECT_EQ(right(question).call_ns, right(question).call_ns);
}

TEST(Simulation, TooMuchMemoryIsRefused) {
  EXPECT_NE(simulate(ask("pack:2 l3:8 core:8", Kind::allreduce, std::size_t{1} << 31)).failure.find("fewer"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::model
