#include "node/node_split.h"

#include <gtest/gtest.h>

namespace millrace::node {
namespace {

using Nodes = std::vector<std::uint32_t>;

TEST(NodeSplit, SizesInRankOrder) {
  EXPECT_EQ(split_nodes("2+1+4", 7), (Nodes{0, 0, 1, 2, 2, 2, 2}));
  EXPECT_EQ(split_nodes("2", 5), (Nodes{0, 0, 1, 1, 2}));
  EXPECT_EQ(split_nodes("3+1", 6), (Nodes{0, 0, 0, 1, 2, 2}));
}

TEST(NodeSplit, NodesOfEachRank) {
  EXPECT_EQ(split_nodes("0,1,0,1", 4), (Nodes{0, 1, 0, 1}));
  EXPECT_EQ(split_nodes("7,3", 5), (Nodes{7, 3, 7, 3, 7}));
}

TEST(NodeSplit, NothingElse) {
  for (const char* text : {"", "+", "2+", "2+x", "0+1", ",", "1,", "-1", "1 ", "2+1,3", "99999"})
    EXPECT_FALSE(split_nodes(text, 4)) << text;
}

}  // namespace
}  // namespace millrace::node
