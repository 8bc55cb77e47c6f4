// Several nodes, with costs that one can reckon with in the head.
#include "model/nodes.h"

#include <gtest/gtest.h>

#include <string>

#include "model/others.h"
#include "plan/collective.h"
#include "questions.h"

namespace millrace::model {
namespace {

using collective::Kind;

constexpr WireCosts wire{1000, 10};

Question ask(const char* topology, std::uint32_t nodes, Kind kind, std::size_t bytes) {
  Question question = ask_of(topology, kind, bytes);
  std::string complaint;
  question.selection = plan::select_collectives({.tree = {}, .force = {}}, complaint);
  question.nodes = nodes;
  question.wire = wire;
  return question;
}

double time_of(const Question& question) {
  const Answer answer = simulate(question);
  EXPECT_EQ(answer.failure, "");
  EXPECT_TRUE(answer.is_checked && answer.is_right) << question.bytes;
  return answer.call_ns;
}

TEST(WireTime, IsThatOfTheFastestAlgorithm) {
  EXPECT_DOUBLE_EQ(wire_time(Kind::barrier, 32, 0, wire, 1).total_ns, 5 * 1000);
  EXPECT_DOUBLE_EQ(wire_time(Kind::barrier, 33, 0, wire, 1).total_ns, 6 * 1000);
  // Small: along a tree. Large: in parts, of which each goes over a node's wire twice.
  EXPECT_DOUBLE_EQ(wire_time(Kind::bcast, 4, 100, wire, 1).total_ns, 2 * (1000 + 10));
  EXPECT_DOUBLE_EQ(wire_time(Kind::bcast, 4, 100, wire, 1).wire_ns, 10);
  EXPECT_DOUBLE_EQ(wire_time(Kind::bcast, 16, 4'000'000, wire, 1).total_ns, 19 * 1000 + 2 * 375'000);
  EXPECT_DOUBLE_EQ(wire_time(Kind::allreduce, 4, 100, wire, 1).total_ns, 2 * (1000 + 10 + 100));
  EXPECT_DOUBLE_EQ(wire_time(Kind::allreduce, 4, 4'000'000, wire, 1).total_ns, 4 * 1000 + 600'000 + 3'000'000);
  EXPECT_DOUBLE_EQ(wire_time(Kind::reduce, 4, 100, wire, 1).total_ns, 2 * (1000 + 10 + 100));
}

// One rank on each node: nothing but the call and the wire.
TEST(Nodes, OfOneRankEach) {
  EXPECT_DOUBLE_EQ(time_of(ask("core:1", 8, Kind::barrier, 0)), 7 + 3 * 1000);
  EXPECT_DOUBLE_EQ(time_of(ask("core:1", 2, Kind::bcast, 4000)), 7 + 1000 + 400);
  EXPECT_DOUBLE_EQ(time_of(ask("core:1", 2, Kind::allreduce, 400)), 7 + 1000 + 40 + 400);
  EXPECT_DOUBLE_EQ(time_of(ask("core:1", 2, Kind::reduce, 400)), 7 + 1000 + 40 + 400);
}

// A barrier of the node, the leaders' barrier, and a barrier of the node again: a line each.
TEST(Nodes, ABarrierIsOneOfTheNodeOnBothSides) {
  EXPECT_DOUBLE_EQ(time_of(ask("core:2", 2, Kind::barrier, 0)), 7 + 100 + 1000 + 100);
}

// Large data: each of four ranks leads a quarter, at the same time, over one wire.
TEST(Nodes, RanksThatCrossShareTheWire) {
  Question question = ask("core:4", 4, Kind::allreduce, 4'000'000);
  question.costs.copy_bytes_per_ns = question.costs.memory_bytes_per_ns = 1e9;
  // 3/4 of it each way at 10 bytes a nanosecond, and no sooner than that however many cross.
  const double alone_ns = 2 * 0.75 * 400'000;
  EXPECT_GE(time_of(question), alone_ns);
  EXPECT_LT(time_of(question), 1.1 * alone_ns + 20 * 1000);
  question.wire.bytes_per_ns = 1e9;
  EXPECT_LT(time_of(question), 60'000);
}

TEST(Nodes, AllIsRightForAnyNumberOfRanksAndNodes) {
  for (std::uint32_t cores = 1; cores <= 9; ++cores) {
    const std::string topology = "core:" + std::to_string(cores);
    for (const std::uint32_t nodes : {2u, 3u, 32u})
      for (const Kind kind : {Kind::barrier, Kind::bcast, Kind::reduce, Kind::allreduce})
        for (const std::size_t bytes : {4u, 4096u, 20'000u, 300'000u, 1'200'000u})
          EXPECT_GT(time_of(ask(topology.c_str(), nodes, kind, bytes)), 1000);
  }
}

TEST(Nodes, MessagesInTheNodeAndBetweenLeaders) {
  Question question = ask("core:1", 2, Kind::allreduce, 400);
  for (const Other other : {Other::flat, Other::binomial, Other::sc18}) {
    const Answer answer = simulate_other(question, other);
    EXPECT_EQ(answer.failure, "") << other_name(other);
    EXPECT_GE(answer.call_ns, 7 + 1000 + 40 + 400) << other_name(other);
  }
  EXPECT_NE(simulate_other(question, Other::ring).failure, "");
  // The same as the two steps in the node, one behind the other, and the wire.
  question = ask("core:8", 4, Kind::allreduce, 0);
  EXPECT_DOUBLE_EQ(simulate_other(question, Other::binomial).call_ns, 7 + 2 * 3 * (100 + 100) + 2 * 1000);
}

TEST(Nodes, RanksThatShareCoresAreRefused) {
  Question question = ask("core:2", 2, Kind::barrier, 0);
  question.ranks = 3;
  EXPECT_NE(simulate(question).failure, "");
  EXPECT_NE(simulate_other(question, Other::binomial).failure, "");
}

}  // namespace
}  // namespace millrace::model
