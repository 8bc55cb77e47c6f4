#include "collective/across/node_map.h"

#include <algorithm>
#include <new>

namespace millrace::collective {

bool NodeMap::build(std::span<const std::uint32_t> node_names) {
  ranks_ = static_cast<std::uint32_t>(node_names.size());
  nodes_ = most_places_ = 0;
  in_order_ = true;
  node_of_.reset(new (std::nothrow) std::uint32_t[ranks_]);
  place_of_.reset(new (std::nothrow) std::uint32_t[ranks_]);
  first_.reset(new (std::nothrow) std::uint32_t[ranks_ + 1]);
  ordered_.reset(new (std::nothrow) std::uint32_t[ranks_]);
  if (!node_of_ || !place_of_ || !first_ || !ordered_) return false;
  // By name, and in rank order among equal ones: who comes first of each is the node's lowest rank.
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) ordered_[rank] = rank;
  const auto by_name = [&](std::uint32_t a, std::uint32_t b) {
    return node_names[a] != node_names[b] ? node_names[a] < node_names[b] : a < b;
  };
  std::sort(ordered_.get(), ordered_.get() + ranks_, by_name);
  for (std::uint32_t i = 0, lowest = 0; i < ranks_; ++i) {
    if (i == 0 || node_names[ordered_[i]] != node_names[ordered_[i - 1]]) lowest = ordered_[i];
    place_of_[ordered_[i]] = lowest;  // for now
  }
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) ordered_[rank] = rank;
  std::sort(ordered_.get(), ordered_.get() + ranks_, [&](std::uint32_t a, std::uint32_t b) {
    return place_of_[a] != place_of_[b] ? place_of_[a] < place_of_[b] : a < b;
  });
  std::uint32_t lowest = 0;
  for (std::uint32_t i = 0; i < ranks_; ++i) {
    const std::uint32_t rank = ordered_[i];
    if (i == 0 || place_of_[rank] != lowest) {
      lowest = place_of_[rank];
      first_[nodes_++] = i;
    }
    node_of_[rank] = nodes_ - 1;
    in_order_ = in_order_ && rank == i;
  }
  first_[nodes_] = ranks_;
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    for (std::uint32_t place = 0; place < places(node); ++place) place_of_[ordered_[first_[node] + place]] = place;
    most_places_ = std::max(most_places_, places(node));
  }
  return true;
}

}  // namespace millrace::collective
