#include "collective/across/node_map.h"

#include <algorithm>
#include <new>
#include <utility>

namespace millrace::collective {

bool NodeMap::build(std::span<const std::uint32_t> node_names) {
  ranks_ = static_cast<std::uint32_t>(node_names.size());
  nodes_ = most_places_ = 0;
  in_order_ = true;
  node_of_.reset(new (std::nothrow) std::uint32_t[ranks_]());
  place_of_.reset(new (std::nothrow) std::uint32_t[ranks_]());
  first_.reset(new (std::nothrow) std::uint32_t[ranks_ + 1]());
  ordered_.reset(new (std::nothrow) std::uint32_t[ranks_]());
  if (!node_of_ || !place_of_ || !first_ || !ordered_) return false;
  // Of each node found so far: its lowest rank in `ordered_`, how many ranks in `first_`.
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    std::uint32_t node = 0;
    while (node < nodes_ && node_names[ordered_[node]] != node_names[rank]) ++node;
    if (node == nodes_) ordered_[nodes_++] = rank;
    node_of_[rank] = node;
    place_of_[rank] = first_[node]++;
  }
  std::uint32_t before = 0;
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    most_places_ = std::max(most_places_, first_[node]);
    before += std::exchange(first_[node], before);
  }
  first_[nodes_] = ranks_;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const std::uint32_t position = first_[node_of_[rank]] + place_of_[rank];
    ordered_[position] = rank;
    in_order_ = in_order_ && position == rank;
  }
  return true;
}

}  // namespace millrace::collective
