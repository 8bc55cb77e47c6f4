#include "collective/across/node_map.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace millrace::collective {
namespace {

TEST(NodeMap, NumbersNodesByTheirLowestRank) {
  const std::vector<std::uint32_t> names{9, 9, 4, 9, 4, 7};
  NodeMap map;
  ASSERT_TRUE(map.build(names));
  EXPECT_EQ(map.nodes(), 3u);
  EXPECT_EQ(map.node_of(0), 0u);
  EXPECT_EQ(map.node_of(2), 1u);
  EXPECT_EQ(map.node_of(5), 2u);
  EXPECT_EQ(map.place_of(3), 2u);
  EXPECT_EQ(map.place_of(4), 1u);
  EXPECT_EQ(map.places(0), 3u);
  EXPECT_EQ(map.rank_at(1, 1), 4u);
  EXPECT_FALSE(map.is_even());
  EXPECT_FALSE(map.is_in_order());
  EXPECT_EQ(map.most_places(), 3u);
}

TEST(NodeMap, KnowsEvenNodesAndRankOrder) {
  NodeMap map;
  ASSERT_TRUE(map.build(std::vector<std::uint32_t>{3, 3, 1, 1}));
  EXPECT_TRUE(map.is_even());
  EXPECT_TRUE(map.is_in_order());
  ASSERT_TRUE(map.build(std::vector<std::uint32_t>{0, 1, 0, 1}));
  EXPECT_TRUE(map.is_even());
  EXPECT_FALSE(map.is_in_order());
  ASSERT_TRUE(map.build(std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_FALSE(map.is_even());
  EXPECT_TRUE(map.is_in_order());
}

TEST(NodeMap, EveryRankHasOnePlace) {
  std::mt19937 random(20261125);
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<std::uint32_t> names(1 + random() % 40);
    for (std::uint32_t& name : names) name = random() % 7 * 1000;
    NodeMap map;
    ASSERT_TRUE(map.build(names));
    for (std::uint32_t rank = 0; rank < names.size(); ++rank) {
      EXPECT_EQ(map.rank_at(map.node_of(rank), map.place_of(rank)), rank);
      EXPECT_EQ(names[map.rank_at(map.node_of(rank), 0)], names[rank]);
      EXPECT_LE(map.rank_at(map.node_of(rank), 0), rank);
    }
    EXPECT_EQ(map.first(map.nodes()), names.size());
  }
}

}  // namespace
}  // namespace millrace::collective
