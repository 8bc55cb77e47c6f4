#include "plan/nodes_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::plan {
namespace {

using collective::Across;
using collective::Kind;

using Names = std::vector<std::uint32_t>;

Names even(std::uint32_t nodes, std::uint32_t ranks) {
  Names names(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) names[rank] = rank / (ranks / nodes);
  return names;
}

NodesWalk walk(const Names& names, Kind kind, std::size_t bytes, std::uint32_t root = 0) {
  const auto found = walk_over_nodes(names, kind, bytes, root);
  EXPECT_TRUE(found.has_value());
  return found.value_or(NodesWalk{});
}

std::string steps(const NodesWalk& walk) {
  std::string text;
  for (const NodesStep& step : walk.steps) {
    if (!text.empty()) text += ' ';
    if (step.crosses) text += "<>";
    text += step.name;
    text += '*';
    text += std::to_string(step.ranks);
  }
  return text;
}

// What a node sends, if the host goes between nodes by the first algorithm that there is.
std::uint64_t bytes_out(const NodesWalk& walk, std::uint32_t nodes) {
  Names itself(nodes);
  for (std::uint32_t node = 0; node < nodes; ++node) itself[node] = node;
  std::vector<NodeTraffic> traffic(nodes);
  for (const auto& [call, times] : walk.calls)
    for (const WireAlgorithm& algorithm : wire_algorithms())
      if (algorithm.kind == call.kind) {
        add_traffic(algorithm, call, times, itself, traffic);
        break;
      }
  return traffic[0].bytes_out;
}

TEST(NodesSteps, AreThoseOfTheComposition) {
  EXPECT_EQ(steps(walk(even(2, 4), Kind::barrier, 0)), "barrier*2 <>barrier*1 barrier*2");
  EXPECT_EQ(steps(walk(even(2, 4), Kind::allreduce, 8)), "reduce*2 <>allreduce*1 bcast*2");
  EXPECT_EQ(steps(walk(even(32, 1280), Kind::allreduce, 1 << 20)), "reduce_scatter*40 <>allreduce*40 allgather*40");
  EXPECT_EQ(steps(walk(even(2, 4), Kind::bcast, 100)), "<>bcast*1 bcast*2");
  EXPECT_EQ(steps(walk(even(2, 4), Kind::alltoall, 100)), "messages*2 <>alltoall*2");
  EXPECT_EQ(steps(walk(even(2, 4), Kind::scan, 100)), "scan*2 messages*2 <>exscan*1");
  EXPECT_EQ(steps(walk(even(2, 4), Kind::reduce_scatter, 4000)), "reduce_scatter*2 <>reduce_scatter*2");
  EXPECT_EQ(steps(walk({0, 0, 1}, Kind::alltoall, 8)), "messages*2 <>alltoall*1 messages*2");
  EXPECT_EQ(steps(walk({0, 1, 0, 1}, Kind::scan, 8)), "messages*2 <>allgather*1 bcast*2");
  // A rank that has its node to itself has nobody to share a step with.
  EXPECT_EQ(steps(walk({0, 1}, Kind::allreduce, 8)), "<>allreduce*1");
  // The root is no leader of its node, and nodes are of different sizes.
  EXPECT_EQ(steps(walk({0, 0, 1}, Kind::reduce, 8, 1)), "reduce*2 <>reduce*1 messages*2");
}

TEST(NodesSteps, PiecesAreCounted) {
  // Of 1 MiB on a node, which cross in four.
  const NodesWalk found = walk(even(2, 4), Kind::bcast, 2 * Across::bcast_given_bytes + 1);
  EXPECT_EQ(found.pieces, 3u);
  ASSERT_EQ(found.steps.size(), 2u);
  EXPECT_EQ(found.steps[0].times, 3u);
  EXPECT_EQ(found.steps[0].ranks, 1u);
  EXPECT_EQ(found.steps[0].in_a_row, Across::bcast_given_bytes / Across::bcast_piece_bytes);
  EXPECT_EQ(found.steps[0].least_bytes, 1u);
  EXPECT_EQ(found.steps[0].most_bytes, Across::bcast_piece_bytes);
  EXPECT_EQ(found.steps[1].in_a_row, 1u);
  EXPECT_EQ(found.steps[1].most_bytes, Across::bcast_given_bytes);
  ASSERT_EQ(found.calls.size(), 2u);
  EXPECT_EQ(found.calls[0].second, 2 * Across::bcast_given_bytes / Across::bcast_piece_bytes);
}

// Between two nodes each byte goes over the wire once each way.
TEST(NodesSteps, EachByteGoesOnce) {
  for (const std::size_t bytes : {8, 1000, 100'000, 5'000'000}) {
    EXPECT_EQ(bytes_out(walk(even(2, 8), Kind::allreduce, bytes), 2), bytes);
    EXPECT_EQ(bytes_out(walk({0, 0, 0, 1}, Kind::allreduce, bytes), 2), bytes);
    EXPECT_EQ(bytes_out(walk(even(2, 8), Kind::bcast, bytes), 2), bytes);
    EXPECT_EQ(bytes_out(walk(even(2, 8), Kind::allgather, bytes), 2), 4 * bytes);
    EXPECT_EQ(bytes_out(walk(even(2, 8), Kind::alltoall, bytes), 2), 16 * bytes);
    EXPECT_EQ(bytes_out(walk({0, 0, 0, 1, 1}, Kind::alltoall, bytes), 2), 6 * bytes);
    EXPECT_EQ(bytes_out(walk(even(2, 8), Kind::scatter, bytes), 2), 4 * bytes);
    EXPECT_EQ(bytes_out(walk(even(2, 8), Kind::reduce_scatter, 8 * bytes), 2), 4 * bytes);
  }
}

TEST(NodesSteps, WhatTheCompositionCannotDoIsTheHosts) {
  EXPECT_FALSE(walk(even(2, 4), Kind::neighbor, 8).is_done);
  EXPECT_TRUE(walk(even(32, 1280), Kind::reduce_scatter, 1 << 20).is_done);
  EXPECT_FALSE(walk(even(64, 8192), Kind::allgather, 8).is_done);
  EXPECT_TRUE(walk(even(64, 8192), Kind::allreduce, 8).is_done);
}

}  // namespace
}  // namespace millrace::plan
