// Trees on machines that are not here: written down, or by their synthetic description as hwloc has it.
#include "collective/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <string_view>
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

// Places of the cores of a machine like "package:5 l3:2 core:4" (the form of hwloc's synthetic topologies), one rank
// for each core, in the order of cores, or going round the packages.
std::vector<Place> machine(std::string_view description, bool round_robin = false) {
  std::uint32_t packages = 1, caches = 1, cores = 1;
  while (!description.empty()) {
    const std::string_view word = description.substr(0, description.find(' '));
    description.remove_prefix(std::min(word.size() + 1, description.size()));
    const std::size_t colon = word.find(':');
    std::uint32_t number = 0;
    std::from_chars(word.data() + colon + 1, word.data() + word.size(), number);
    (word.starts_with("package") ? packages : word.starts_with("l3") ? caches : cores) = number;
  }
  const std::uint32_t each = caches * cores, all = packages * each;
  std::vector<Place> places;
  for (std::uint32_t rank = 0; rank < all; ++rank) {
    const std::uint32_t core = round_robin ? rank % packages * each + rank / packages : rank;
    places.push_back({{core / each, core / cores}});
  }
  return places;
}

// Edges between ranks that are not in the same part at `level` (1: package, 2: package and cache).
std::uint32_t crossings(const std::vector<Place>& places, const Built& built, std::size_t level) {
  std::uint32_t count = 0;
  for (std::uint32_t rank = 1; rank < places.size(); ++rank) {
    const Place &own = places[rank], &above = places[built.nodes[rank].parent];
    count += !std::equal(own.at, own.at + level, above.at);
  }
  return count;
}

// Ranks below a rank, and itself.
std::uint32_t subtree(const Built& built, std::uint32_t rank) {
  std::uint32_t size = 1;
  for (const std::uint32_t child : built.children_of(rank)) size += subtree(built, child);
  return size;
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

// The five sockets of Jain et al. (SC18), a binary tree: one that knows no sockets crosses between them again and
// again; one that does crosses once for each further socket, among the leaders.
TEST(FiveSockets, KaryThatKnowsSocketsCrossesFourTimes) {
  for (const bool round_robin : {false, true}) {
    const std::vector<Place> places = machine("package:5 core:4", round_robin);
    const Built unaware = build(places, {TreeKind::kary, 2, 0}), aware = build(places, {TreeKind::kary, 2, 1});
    EXPECT_EQ(crossings(places, unaware, 1), round_robin ? 15u : 16u);
    EXPECT_EQ(crossings(places, aware, 1), 4u);
    EXPECT_EQ(deepest(unaware), 4);  // 20 ranks
    EXPECT_EQ(deepest(aware), 4);    // two levels of leaders, and two of the four ranks of a socket
  }
}

// Leaders 0, 4, 8, 12, 16 are a binary tree; so are the ranks of each socket under their leader.
TEST(FiveSockets, LeadersFirstAndLast) {
  const std::vector<Place> places = machine("package:5 core:4");
  TreeShape shape{TreeKind::kary, 2, 1};
  const Built first = build(places, shape);
  EXPECT_EQ(first.children_of(0), (Ranks{4, 8, 1, 2}));
  EXPECT_EQ(first.children_of(4), (Ranks{12, 16, 5, 6}));
  EXPECT_EQ(first.children_of(8), (Ranks{9, 10}));
  EXPECT_EQ(first.children_of(1), (Ranks{3}));
  shape.leaders_first = false;
  const Built last = build(places, shape);
  EXPECT_EQ(last.children_of(0), (Ranks{1, 2, 4, 8}));
  EXPECT_EQ(last.children_of(4), (Ranks{5, 6, 12, 16}));
}

// Left skewed: the larger subtree is that of the first child. Right skewed: of the last. A k-nomial tree of five
// leaders is the beginning of one of eight, whose largest subtree is cut short: hence eight.
TEST(FiveSockets, LeftAndRightSkewed) {
  for (const TreeKind kind : {TreeKind::kary, TreeKind::knomial})
    for (const bool large_first : {true, false}) {
      const std::vector<Place> places = machine(kind == TreeKind::kary ? "package:5 core:4" : "package:8 core:4");
      TreeShape shape{kind, 2, 1};
      shape.large_first = large_first;
      const Built built = build(places, shape);
      for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
        std::vector<std::uint32_t> inside, leaders;
        for (const std::uint32_t child : built.children_of(rank))
          (child / 4 == rank / 4 ? inside : leaders).push_back(subtree(built, child));
        for (std::vector<std::uint32_t>* each : {&inside, &leaders}) {
          if (!large_first) std::reverse(each->begin(), each->end());
          EXPECT_TRUE(std::is_sorted(each->rbegin(), each->rend())) << rank;
        }
      }
    }
  TreeShape right{TreeKind::kary, 2, 1};
  right.large_first = false;
  EXPECT_EQ(build(machine("package:5 core:4"), right).children_of(0), (Ranks{8, 4, 2, 1}));
}

TEST(FiveSockets, KnomialAndFlat) {
  const std::vector<Place> places = machine("package:5 core:4", true);
  const Built knomial = build(places, {TreeKind::knomial, 2, 1}), flat = build(places, {TreeKind::flat, 2, 1});
  EXPECT_EQ(crossings(places, build(places, {TreeKind::knomial, 2, 0}), 1), 19u);
  EXPECT_EQ(crossings(places, knomial, 1), 4u);
  EXPECT_EQ(crossings(places, flat, 1), 4u);
  EXPECT_EQ(deepest(flat), 2);
  // Ranks 0 to 4 lead their sockets.
  EXPECT_EQ(flat.children_of(0), (Ranks{1, 2, 3, 4, 5, 10, 15}));
  EXPECT_EQ(flat.children_of(3), (Ranks{8, 13, 18}));
}

// Caches inside sockets: each cache is entered once, and each socket too.
TEST(Machines, CachesInsideSockets) {
  for (const char* description :
       {"package:2 l3:8 core:8", "package:1 l3:12 core:8", "package:4 l3:1 core:28", "package:8 l3:2 core:3"})
    for (const bool round_robin : {false, true}) {
      const std::vector<Place> places = machine(description, round_robin);
      const auto count_parts = [&](std::size_t level) {
        std::vector<std::vector<std::uint32_t>> parts;
        for (const Place& place : places) parts.emplace_back(place.at, place.at + level);
        std::sort(parts.begin(), parts.end());
        return static_cast<std::uint32_t>(std::unique(parts.begin(), parts.end()) - parts.begin());
      };
      for (const TreeKind kind : {TreeKind::kary, TreeKind::knomial, TreeKind::flat})
        for (const std::uint32_t arity : {2u, 4u}) {
          EXPECT_EQ(crossings(places, build(places, {kind, arity, 1}), 1), count_parts(1) - 1) << description;
          const Built built = build(places, {kind, arity, 2});
          EXPECT_EQ(crossings(places, built, 1), count_parts(1) - 1) << description;
          EXPECT_EQ(crossings(places, built, 2), count_parts(2) - 1) << description;
        }
    }
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
