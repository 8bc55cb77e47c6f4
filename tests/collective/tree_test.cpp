// Trees on machines that are not here.
#include "collective/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace millrace::collective {
namespace {

struct Built {
  std::vector<TreeNode> nodes;
  std::vector<std::uint32_t> children;

  std::vector<std::uint32_t> children_of(std::uint32_t rank) const {
    const auto begin = children.begin() + nodes[rank].first_child;
    return {begin, begin + nodes[rank].child_count};
  }
};

Built build(const std::vector<Place>& places, const TreeShape& shape) {
  Built built{std::vector<TreeNode>(places.size()), std::vector<std::uint32_t>(places.size())};
  std::vector<std::uint32_t> scratch(4 * places.size());
  build_tree(places, shape, built.nodes, built.children, scratch);
  return built;
}

using Ranks = std::vector<std::uint32_t>;

// `sockets` sockets with `each` ranks, rank after rank.
std::vector<Place> by_socket(std::uint32_t sockets, std::uint32_t each) {
  std::vector<Place> places;
  for (std::uint32_t rank = 0; rank < sockets * each; ++rank) places.push_back({{rank / each, rank / 2}});
  return places;
}

int depth(const Built& built, std::uint32_t rank) {
  int steps = 0;
  for (; rank != 0; rank = built.nodes[rank].parent) ++steps;
  return steps;
}

int deepest(const Built& built) {
  int most = 0;
  for (std::uint32_t rank = 0; rank < built.nodes.size(); ++rank) most = std::max(most, depth(built, rank));
  return most;
}

TEST(Tree, Kary) {
  const Built built = build(by_socket(1, 7), {TreeKind::kary, 2});
  EXPECT_EQ(built.children_of(0), (Ranks{1, 2}));
  EXPECT_EQ(built.children_of(1), (Ranks{3, 4}));
  EXPECT_EQ(built.children_of(2), (Ranks{5, 6}));
}

TEST(Tree, KnomialWithLargeOrSmallSubtreesFirst) {
  TreeShape shape{TreeKind::knomial, 2};
  EXPECT_EQ(build(by_socket(1, 8), shape).children_of(0), (Ranks{4, 2, 1}));
  shape.large_first = false;
  const Built built = build(by_socket(1, 8), shape);
  EXPECT_EQ(built.children_of(0), (Ranks{1, 2, 4}));
  EXPECT_EQ(built.children_of(4), (Ranks{5, 6}));
  EXPECT_EQ(built.children_of(6), (Ranks{7}));
  EXPECT_EQ(build(by_socket(1, 16), {TreeKind::knomial, 4}).children_of(0), (Ranks{12, 8, 4, 3, 2, 1}));
}

TEST(Tree, FlatIsOneDeep) { EXPECT_EQ(deepest(build(by_socket(1, 40), {TreeKind::flat})), 1); }

TEST(Tree, DepthGrowsWithTheLogarithm) {
  EXPECT_EQ(deepest(build(by_socket(1, 1024), {TreeKind::knomial, 2})), 10);
  EXPECT_EQ(deepest(build(by_socket(1, 1024), {TreeKind::knomial, 4})), 5);
  EXPECT_EQ(deepest(build(by_socket(1, 1023), {TreeKind::kary, 2})), 9);
}

// Five sockets with four ranks: one message enters each socket, whatever the shape and the order of ranks.
TEST(Tree, EntersEachSocketOnce) {
  for (const bool scattered : {false, true}) {
    std::vector<Place> places = by_socket(5, 4);
    if (scattered)
      for (std::uint32_t rank = 0; rank < places.size(); ++rank) places[rank] = {{rank % 5, rank % 10}};
    for (const TreeKind kind : {TreeKind::kary, TreeKind::knomial, TreeKind::flat}) {
      for (const std::uint32_t levels : {1u, 2u}) {
        const Built built = build(places, {kind, 2, levels});
        std::vector<int> entries(5);
        for (std::uint32_t rank = 1; rank < places.size(); ++rank)
          if (places[rank].at[0] != places[built.nodes[rank].parent].at[0]) ++entries[places[rank].at[0]];
        EXPECT_EQ(entries, (std::vector<int>{0, 1, 1, 1, 1}));
      }
    }
  }
}

TEST(Tree, ServesLeadersFirstOrLast) {
  TreeShape shape{TreeKind::flat, 2, 1};
  EXPECT_EQ(build(by_socket(3, 3), shape).children_of(0), (Ranks{3, 6, 1, 2}));
  shape.leaders_first = false;
  EXPECT_EQ(build(by_socket(3, 3), shape).children_of(0), (Ranks{1, 2, 3, 6}));
}

// Every rank is reached once: a child of exactly one, and no cycles.
TEST(Tree, SpansAllRanks) {
  for (const std::uint32_t count : {1u, 2u, 3u, 5u, 13u, 64u, 100u}) {
    std::vector<Place> places;
    for (std::uint32_t rank = 0; rank < count; ++rank) places.push_back({{rank * 7 % 3, rank * 5 % 4}});
    for (const TreeKind kind : {TreeKind::kary, TreeKind::knomial, TreeKind::flat})
      for (const std::uint32_t arity : {2u, 3u, 8u})
        for (const std::uint32_t levels : {0u, 1u, 2u}) {
          const Built built = build(places, {kind, arity, levels});
          std::vector<int> reached(count);
          for (std::uint32_t rank = 0; rank < count; ++rank)
            for (const std::uint32_t child : built.children_of(rank)) {
              ++reached[child];
              EXPECT_EQ(built.nodes[child].parent, rank);
            }
          EXPECT_EQ(reached[0], 0);
          EXPECT_EQ(std::count(reached.begin(), reached.end(), 1), static_cast<long>(count) - 1);
          EXPECT_LT(deepest(built), static_cast<int>(count));
        }
  }
}

TEST(Tree, SeatsSwapRootAndZero) {
  for (const std::uint32_t root : {0u, 1u, 5u})
    for (std::uint32_t rank = 0; rank < 7; ++rank) EXPECT_EQ(seat(seat(rank, root), root), rank);
  EXPECT_EQ(seat(5, 5), 0u);
}

}  // namespace
}  // namespace millrace::collective
