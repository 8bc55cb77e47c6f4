// What the lists of messages have in common, whatever the number of ranks: everybody is reached, and no byte is
// forgotten.
#include "plan/wire_messages.h"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace millrace::plan {
namespace {

using collective::Kind;

struct Listed {
  std::uint32_t from, to;
  std::uint64_t bytes;
};

std::vector<Listed> listed(const WireAlgorithm& algorithm, const WireCall& call) {
  std::vector<Listed> found;
  algorithm.list(call, [&](std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
    found.push_back({from, to, bytes});
  });
  return found;
}

std::uint64_t sum(const std::vector<Listed>& messages) {
  return std::accumulate(messages.begin(), messages.end(), std::uint64_t{0},
                         [](std::uint64_t before, const Listed& each) { return before + each.bytes; });
}

WireCall call_of(Kind kind, std::uint32_t ranks, std::size_t bytes, std::uint32_t root) {
  WireCall call{kind, ranks, root, {bytes}};
  if (kind == Kind::reduce_scatter) call.bytes.assign(ranks, bytes);
  return call;
}

// What must have gone over the wire, by what the call promises: at least, and of all these algorithms but the doubling
// ones just so.
std::uint64_t least_bytes(Kind kind, std::uint64_t ranks, std::uint64_t bytes) {
  switch (kind) {
    case Kind::barrier: return 0;
    case Kind::allreduce: return 2 * (ranks - 1) * bytes;
    case Kind::allgather:
    case Kind::alltoall:
    case Kind::reduce_scatter: return ranks * (ranks - 1) * bytes;
    default: return (ranks - 1) * bytes;
  }
}

TEST(WireMessages, SendWhatTheCallPromises) {
  for (const WireAlgorithm& algorithm : wire_algorithms())
    for (const std::uint32_t ranks : {2u, 3u, 4u, 7u, 12u})
      for (const std::uint32_t root : {0u, ranks - 1}) {
        const std::string where = std::string(collective::kind_name(algorithm.kind)) + " " + algorithm.name + " of " +
                                  std::to_string(ranks) + " from " + std::to_string(root);
        const std::size_t bytes = std::size_t{1000} * ranks;
        const std::vector<Listed> messages = listed(algorithm, call_of(algorithm.kind, ranks, bytes, root));
        const std::uint64_t least = least_bytes(algorithm.kind, ranks, bytes);
        EXPECT_GE(sum(messages), least) << where;
        const std::string name = algorithm.name;
        const bool repeats = name.find("doubling") != std::string::npos || name == "binomial tree" ||
                             (name == "recursive halving" && !std::has_single_bit(ranks));
        const bool is_plain =
            algorithm.kind == Kind::bcast || algorithm.kind == Kind::reduce || algorithm.kind == Kind::allgather;
        if (!repeats || is_plain) {
          EXPECT_EQ(sum(messages), least) << where;
        }
        std::set<std::uint32_t> touched;
        for (const Listed& each : messages) {
          EXPECT_NE(each.from, each.to) << where;
          ASSERT_LT(std::max(each.from, each.to), ranks) << where;
          touched.insert({each.from, each.to});
        }
        EXPECT_EQ(touched.size(), ranks) << where;
      }
}

TEST(WireMessages, BlocksOfDifferentSizes) {
  for (const WireAlgorithm& algorithm : wire_algorithms()) {
    if (std::string(algorithm.name) == "binomial tree" || std::string(algorithm.name) == "recursive halving") continue;
    WireCall call{algorithm.kind, 3, 1, {10, 200, 3000}};
    const std::uint64_t bytes = sum(listed(algorithm, call));
    const bool has_root = algorithm.kind == Kind::gather || algorithm.kind == Kind::scatter;
    const bool is_for_all = algorithm.kind == Kind::allgather || algorithm.kind == Kind::reduce_scatter;
    if (has_root || is_for_all) {
      EXPECT_EQ(bytes, has_root ? 3010u : 2 * 3210u) << algorithm.name;
    }
  }
}

// Known by heart: of 3 ranks the first hands all to the second and gets its block, and the others swap.
TEST(WireMessages, HalvingBeyondAPowerOfTwo) {
  for (const WireAlgorithm& algorithm : wire_algorithms()) {
    if (std::string(algorithm.name) != "recursive halving") continue;
    std::vector<NodeTraffic> nodes(3);
    add_traffic(algorithm, {Kind::reduce_scatter, 3, 0, {10, 200, 3000}}, 1, std::vector<std::uint32_t>{0, 1, 2},
                nodes);
    EXPECT_EQ(nodes[0].bytes_out, 3210u);
    EXPECT_EQ(nodes[1].bytes_out, 10u + 3000u);
    EXPECT_EQ(nodes[2].bytes_out, 210u);
    EXPECT_EQ(nodes[0].bytes_in, 10u);
  }
}

// Blocks of two sizes of nodes: 3 ranks, 2 and 1, that have 100 bytes for each other.
TEST(WireMessages, NodesOfSeveralSizesSwapWhatTheirRanksDo) {
  const WireCall call{Kind::alltoall, 3, 0, {900, 600, 300}};
  for (const WireAlgorithm& algorithm : wire_algorithms()) {
    if (algorithm.kind != Kind::alltoall) continue;
    std::vector<NodeTraffic> nodes(3);
    add_traffic(algorithm, call, 1, std::vector<std::uint32_t>{0, 1, 2}, nodes);
    EXPECT_EQ(nodes[0].bytes_out, 900u) << algorithm.name;
    EXPECT_EQ(nodes[1].bytes_out, 800u) << algorithm.name;
    EXPECT_EQ(nodes[2].bytes_out, 500u) << algorithm.name;
    EXPECT_EQ(nodes[0].bytes_in, 900u) << algorithm.name;
  }
}

// Known by heart: of 2 nodes of 2 ranks.
TEST(WireMessages, OnlyWhatLeavesANodeCounts) {
  const std::vector<std::uint32_t> node_of{0, 0, 1, 1};
  for (const WireAlgorithm& algorithm : wire_algorithms()) {
    if (algorithm.kind != Kind::allreduce) continue;
    std::vector<NodeTraffic> nodes(2);
    add_traffic(algorithm, {Kind::allreduce, 4, 0, {4000}}, 10, node_of, nodes);
    const bool doubles = std::string(algorithm.name) == "recursive doubling";
    for (const NodeTraffic& node : nodes) {
      // Both ranks swap all with their partners; or one hands on a quarter, six times.
      EXPECT_EQ(node.messages_out, doubles ? 20u : 60u);
      EXPECT_EQ(node.bytes_out, doubles ? 80000u : 60000u);
      EXPECT_EQ(node.bytes_in, node.bytes_out);
    }
  }
}

}  // namespace
}  // namespace millrace::plan
