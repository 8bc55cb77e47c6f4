#include "collective/tree.h"

#include <algorithm>

namespace millrace::collective {
namespace {

// Position of the parent of position `at` > 0 among `count` members of which the first is the root.
std::uint32_t parent_position(const TreeShape& shape, std::uint32_t at) {
  switch (shape.kind) {
    case TreeKind::flat: return 0;
    case TreeKind::kary: return (at - 1) / shape.arity;
    case TreeKind::knomial: break;
  }
  // The lowest digit that is not 0, in base `arity`, becomes 0.
  std::uint64_t weight = 1;
  while (at / weight % shape.arity == 0) weight *= shape.arity;
  return static_cast<std::uint32_t>(at - at / weight % shape.arity * weight);
}

class Builder {
 public:
  Builder(std::span<const Place> places, const TreeShape& shape, std::span<std::uint32_t> scratch)
      : places_(places),
        shape_(shape),
        parents_(scratch.subspan(0, places.size())),
        depth_level_(scratch.subspan(places.size(), places.size())),
        members_(scratch.subspan(2 * places.size())) {}

  std::span<std::uint32_t> parents() { return parents_; }
  std::span<std::uint32_t> joined_at() { return depth_level_; }

  void build() {
    const auto ranks = static_cast<std::uint32_t>(places_.size());
    for (std::uint32_t rank = 0; rank < ranks; ++rank) parents_[rank] = rank;
    const std::uint32_t levels = std::min<std::uint32_t>(shape_.levels, shared_memory::place_levels);
    // From the inside out: the leaders of the innermost parts, then of the parts around them, last all that are left.
    for (std::uint32_t rank = 0; rank < ranks; ++rank) members_[rank] = rank;
    std::uint32_t left = ranks;
    for (std::uint32_t level = levels; level > 0; --level) left = join_parts(left, level);
    join(members_.subspan(0, left), 0);
  }

 private:
  bool same_part(std::uint32_t a, std::uint32_t b, std::uint32_t level) const {
    for (std::uint32_t each = 0; each < level; ++each)
      if (places_[a].at[each] != places_[b].at[each]) return false;
    return true;
  }

  // A tree over each part of the first `count` members; their leaders become the first members. Returns how many.
  std::uint32_t join_parts(std::uint32_t count, std::uint32_t level) {
    std::uint32_t leaders = 0;
    const std::span<std::uint32_t> part = members_.subspan(places_.size());
    for (std::uint32_t at = 0; at < count; ++at) {
      const std::uint32_t rank = members_[at];
      if (rank == taken) continue;
      std::uint32_t size = 0;
      for (std::uint32_t other = at; other < count; ++other) {
        if (members_[other] == taken || !same_part(rank, members_[other], level)) continue;
        part[size++] = members_[other];
        members_[other] = taken;
      }
      join(part.subspan(0, size), level);
      members_[leaders++] = rank;
    }
    return leaders;
  }

  void join(std::span<const std::uint32_t> members, std::uint32_t level) {
    for (std::uint32_t at = 1; at < members.size(); ++at) {
      parents_[members[at]] = members[parent_position(shape_, at)];
      depth_level_[members[at]] = level;
    }
  }

  static constexpr std::uint32_t taken = ~std::uint32_t{0};
  std::span<const Place> places_;
  const TreeShape& shape_;
  std::span<std::uint32_t> parents_, depth_level_, members_;
};

}  // namespace

void build_tree(std::span<const Place> places, const TreeShape& shape, std::span<TreeNode> nodes,
                std::span<std::uint32_t> children, std::span<std::uint32_t> scratch) {
  const auto ranks = static_cast<std::uint32_t>(places.size());
  Builder builder(places, shape, scratch);
  builder.build();
  const std::span<std::uint32_t> parents = builder.parents(), level = builder.joined_at();
  level[0] = 0;
  std::uint32_t next = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    TreeNode& node = nodes[rank];
    node = {parents[rank], next, 0};
    for (std::uint32_t child = 0; child < ranks; ++child)
      if (child != rank && parents[child] == rank) children[next++] = child;
    node.child_count = next - node.first_child;
    // Ranks grow with the position. In k-nomial trees the subtrees of later children of a level are the larger; in
    // k-ary ones those of the earlier.
    const auto begin = children.begin() + node.first_child;
    std::sort(begin, begin + node.child_count, [&](std::uint32_t a, std::uint32_t b) {
      if (level[a] != level[b]) return (level[a] < level[b]) == shape.leaders_first;
      const bool later_first = shape.kind != TreeKind::flat && (shape.kind == TreeKind::knomial) == shape.large_first;
      return later_first ? a > b : a < b;
    });
  }
}

}  // namespace millrace::collective
