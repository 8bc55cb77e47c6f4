// Trees of ranks, as data: a function of where the ranks are and of a shape. After Jain et al., SC18, section 4: k-ary,
// k-nomial and flat trees; one tree among the leaders of sockets (or caches) and one inside each; leaders served before
// or after the ranks of the own socket; the larger subtrees first or last.
#pragma once

#include <cstdint>
#include <span>

#include "shared_memory/topology.h"

namespace millrace::collective {

using shared_memory::Place;

enum class TreeKind : std::uint8_t { kary, knomial, flat };

struct TreeShape {
  TreeKind kind = TreeKind::knomial;
  std::uint32_t arity = 4;    // >= 2
  std::uint32_t levels = 0;   // of Place that the tree respects: 0 none, 1 sockets, 2 sockets and caches
  bool leaders_first = true;  // among a rank's children, those in other sockets come first
  bool large_first = true;    // among the rest, the larger subtrees come first (left skewed), else last
};

// Messages that come from the root (Bcast, the second half of Barrier and Allreduce) and those that go to it (Reduce,
// the first half) may have trees of different shapes.
enum class Way : std::uint8_t { from_root, to_root };
inline constexpr std::uint32_t way_count = 2;

// A node per rank. Children of a rank are children[first_child .. first_child + child_count) of the tree.
struct TreeNode {
  std::uint32_t parent;  // of rank 0, the root: itself
  std::uint32_t first_child, child_count;
};

// Writes the tree of places.size() ranks with rank 0 as its root. `nodes` and `children` have as many elements;
// `scratch` four times as many. Thread-safe; allocates nothing.
void build_tree(std::span<const Place> places, const TreeShape& shape, std::span<TreeNode> nodes,
                std::span<std::uint32_t> children, std::span<std::uint32_t> scratch);

// For another root, that rank and rank 0 change places in the tree of rank 0.
inline std::uint32_t seat(std::uint32_t rank, std::uint32_t root) { return rank == root ? 0 : rank == 0 ? root : rank; }

}  // namespace millrace::collective
