#include "collective/mesh_plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace millrace::collective {
namespace {

constexpr std::size_t element_counts[] = {1, 2, 3, 7, 8, 9, 31, 64, 65, 256, 1000};

TEST(MeshPlan, TeamsHoldEveryRankOnce) {
  for (std::uint32_t ranks = 1; ranks <= 600; ++ranks) {
    const MeshPlan plan(ranks, 1, 8);
    ASSERT_EQ(plan.begin_of(0), 0u);
    ASSERT_EQ(plan.begin_of(plan.teams()), ranks);
    for (std::uint32_t team = 0; team < plan.teams(); ++team) {
      ASSERT_GE(plan.ranks_of(team), ranks / plan.teams()) << ranks;
      ASSERT_LE(plan.ranks_of(team), ranks / plan.teams() + 1) << ranks;
      for (std::uint32_t rank = plan.begin_of(team); rank < plan.begin_of(team + 1); ++rank)
        ASSERT_EQ(plan.team_of(rank), team) << rank << " of " << ranks;
    }
  }
}

// Each element is in one piece, that is reduced by one rank, which is a member of that column.
TEST(MeshPlan, EveryElementHasOneReducer) {
  for (std::uint32_t ranks = 1; ranks <= 260; ranks += ranks < 40 ? 1 : 7)
    for (const std::size_t elements : element_counts) {
      const MeshPlan plan(ranks, elements, 8);
      std::vector<int> busy(ranks);
      std::size_t next = 0;
      ASSERT_LE(plan.columns(), ranks / plan.teams());
      ASSERT_LE(plan.pieces(), plan.teams());
      for (std::uint32_t column = 0; column < plan.columns(); ++column) {
        ASSERT_EQ(plan.column(column).begin, next);
        for (std::uint32_t index = 0; index < plan.pieces(); ++index) {
          const Extent piece = plan.piece(column, index);
          ASSERT_EQ(piece.begin, next);
          ASSERT_GT(piece.elements, 0u);
          next += piece.elements;
          const std::uint32_t reducer = plan.reducer_of(column, index), team = plan.team_of(reducer);
          ASSERT_EQ(reducer - plan.begin_of(team), column);
          ASSERT_EQ(plan.piece_of(team, column), index);
          ++busy[reducer];
        }
      }
      ASSERT_EQ(next, elements);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::uint32_t team = plan.team_of(rank), member = rank - plan.begin_of(team);
        ASSERT_EQ(busy[rank], member < plan.columns() && plan.piece_of(team, member) < plan.pieces() ? 1 : 0) << rank;
      }
    }
}

// What a member gathers is one piece's rows behind the other's, and never more than was promised.
TEST(MeshPlan, GatheredRowsLieOneBehindTheOther) {
  for (std::uint32_t ranks = 1; ranks <= 260; ranks += ranks < 40 ? 1 : 7)
    for (const std::size_t elements : element_counts) {
      const MeshPlan plan(ranks, elements, 12);
      std::size_t most = 0;
      for (std::uint32_t team = 0; team < plan.teams(); ++team)
        for (std::uint32_t column = 0; column < plan.columns(); ++column) {
          std::size_t end = 0;
          for (std::uint32_t index = 0; index < plan.pieces(); ++index) {
            ASSERT_EQ(plan.gathered_offset(team, column, index), end);
            end += plan.bytes(plan.piece(column, index).elements) * plan.ranks_of(team);
          }
          ASSERT_EQ(plan.gathered_bytes(team, column), end);
          most = std::max(most, end);
        }
      ASSERT_LE(most, plan.most_gathered_bytes()) << ranks << ' ' << elements;
    }
}

}  // namespace
}  // namespace millrace::collective
