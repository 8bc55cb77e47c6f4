// Where the ranks of a communicator are, if they are on several nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace millrace::collective {

// Nodes are numbered by their lowest rank, and the ranks of a node by their place on it, in rank order. In node order
// come the ranks of node 0, then those of node 1 ...
class NodeMap {
 public:
  // `node_names[rank]`: any number that ranks of one node have in common and no other. False: no memory.
  bool build(std::span<const std::uint32_t> node_names);

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t nodes() const { return nodes_; }
  std::uint32_t node_of(std::uint32_t rank) const { return node_of_[rank]; }
  std::uint32_t place_of(std::uint32_t rank) const { return place_of_[rank]; }
  std::uint32_t places(std::uint32_t node) const { return first_[node + 1] - first_[node]; }
  // How many ranks come before those of a node, in node order; first(nodes()) == ranks().
  std::uint32_t first(std::uint32_t node) const { return first_[node]; }
  std::uint32_t rank_at(std::uint32_t node, std::uint32_t place) const { return in_node_order(first_[node] + place); }
  std::uint32_t in_node_order(std::uint32_t position) const { return ordered_[position]; }
  std::uint32_t most_places() const { return most_places_; }
  bool is_even() const { return nodes_ * most_places_ == ranks_; }  // each node has as many ranks
  bool is_in_order() const { return in_order_; }                    // node order is rank order

 private:
  std::uint32_t ranks_ = 0, nodes_ = 0, most_places_ = 0;
  bool in_order_ = true;
  std::unique_ptr<std::uint32_t[]> node_of_, place_of_, first_, ordered_;
};

}  // namespace millrace::collective
