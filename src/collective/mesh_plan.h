// Who does what in a reduction over a mesh of ranks (reduce_mesh.cpp): pure reckoning, the same on all ranks.
//
// Ranks in a row form teams, about the square root of them in each. Elements are cut into columns, one for each member
// of a team, and a column into pieces, each of which is reduced by the member of that column in another team.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collective/chunking.h"
#include "collective/selection.h"

namespace millrace::collective {

class MeshPlan {
 public:
  // elements > 0, ranks > 0.
  constexpr MeshPlan(std::uint32_t ranks, std::size_t elements, std::size_t element_bytes)
      : ranks_(ranks),
        teams_(mesh_teams(ranks)),
        elements_(elements),
        element_bytes_(element_bytes),
        columns_(static_cast<std::uint32_t>(std::min<std::size_t>(elements, ranks / teams_))),
        pieces_(static_cast<std::uint32_t>(std::min<std::size_t>(elements / columns_, std::min(teams_, most_pieces)))) {
  }

  constexpr std::uint32_t teams() const { return teams_; }
  constexpr std::uint32_t columns() const { return columns_; }  // no team has fewer ranks
  constexpr std::uint32_t pieces() const { return pieces_; }    // of a column

  constexpr std::uint32_t begin_of(std::uint32_t team) const { return cut(ranks_, team, teams_); }
  constexpr std::uint32_t ranks_of(std::uint32_t team) const { return begin_of(team + 1) - begin_of(team); }
  constexpr std::uint32_t team_of(std::uint32_t rank) const {
    std::uint32_t team = static_cast<std::uint32_t>(std::uint64_t{rank} * teams_ / ranks_);
    while (begin_of(team + 1) <= rank) ++team;
    return team;
  }

  constexpr Extent column(std::uint32_t index) const {
    const std::size_t begin = cut(elements_, index, columns_);
    return {begin, cut(elements_, index + 1, columns_) - begin};
  }
  constexpr Extent piece(std::uint32_t of_column, std::uint32_t index) const {
    const Extent whole = column(of_column);
    const std::size_t begin = whole.begin + cut(whole.elements, index, pieces_);
    return {begin, whole.begin + cut(whole.elements, index + 1, pieces_) - begin};
  }
  // Not all in the first team: it would be asked by everybody.
  constexpr std::uint32_t reducer_of(std::uint32_t column, std::uint32_t piece) const {
    return begin_of((column + piece) % teams_) + column;
  }
  // Which piece of column `member` a rank of `team` reduces; pieces() and more: none.
  constexpr std::uint32_t piece_of(std::uint32_t team, std::uint32_t member) const {
    return (team + teams_ - member % teams_) % teams_;
  }

  constexpr std::size_t bytes(std::size_t elements) const { return elements * element_bytes_; }
  // What member `column` of a team leaves for those who reduce: of each piece the rows of its team.
  constexpr std::size_t gathered_bytes(std::uint32_t team, std::uint32_t of_column) const {
    return bytes(column(of_column).elements) * ranks_of(team);
  }
  constexpr std::size_t gathered_offset(std::uint32_t team, std::uint32_t of_column, std::uint32_t index) const {
    return bytes(piece(of_column, index).begin - column(of_column).begin) * ranks_of(team);
  }
  // The most that any leaves in its cell.
  constexpr std::size_t most_gathered_bytes() const {
    return bytes((elements_ + columns_ - 1) / columns_) * ((ranks_ + teams_ - 1) / teams_);
  }

 private:
  static constexpr std::uint32_t most_pieces = 4;
  template <class Number>
  static constexpr Number cut(Number whole, std::uint32_t index, std::uint32_t parts) {
    return static_cast<Number>(std::uint64_t{whole} * index / parts);
  }

  std::uint32_t ranks_, teams_;
  std::size_t elements_, element_bytes_;
  std::uint32_t columns_, pieces_;
};

}  // namespace millrace::collective
