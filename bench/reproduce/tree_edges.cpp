// tree_edges TREE PLACE...: the tree that src/collective makes of ranks at these places (socket.cache each), as edges:
// parent child, in the order in which a parent serves its children. TREE as in MILLRACE_TREE.
#include <cstdio>
#include <vector>

#include "collective/tree.h"
#include "plan/collective.h"

int main(int argc, char** argv) {
  using namespace millrace;
  collective::TreeShape shape;
  if (argc < 3 || !plan::tree_shape_of(argv[1], shape)) {
    std::fprintf(stderr, "tree_edges: takes a tree such as kary:3,socket and a place such as 0.0 for each rank\n");
    return 2;
  }
  std::vector<collective::Place> places;
  for (int i = 2; i < argc; ++i) {
    collective::Place place{};
    if (std::sscanf(argv[i], "%u.%u", &place.at[0], &place.at[1]) != 2) return 2;
    places.push_back(place);
  }
  const std::size_t ranks = places.size();
  std::vector<collective::TreeNode> nodes(ranks);
  std::vector<std::uint32_t> children(ranks), scratch(4 * ranks);
  collective::build_tree(places, shape, nodes, children, scratch);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (std::uint32_t i = 0; i < nodes[rank].child_count; ++i)
      std::printf("%zu %u\n", rank, children[nodes[rank].first_child + i]);
  return 0;
}
