#include "shim/exchange_neighbors.h"

#include <algorithm>
#include <numeric>

#include "abi.h"
#include "shim/communicators.h"
#include "shim/forward.h"

namespace millrace::shim {
namespace {

using Blocks = ExchangeSide::Blocks;

// In every dimension the neighbour in the negative direction, then the one in the positive.
void add_cartesian(Word comm, Neighbors& neighbors) {
  int dimensions = 0;
  host<Symbol::MPI_Cartdim_get>(comm, as_word(&dimensions));
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int below = abi::proc_null;
    int above = abi::proc_null;
    host<Symbol::MPI_Cart_shift>(comm, as_word(dimension), 1, as_word(&below), as_word(&above));
    neighbors.sources.push_back(below);
    neighbors.sources.push_back(above);
  }
  neighbors.destinations = neighbors.sources;
}

void add_graph(Word comm, int rank, Neighbors& neighbors) {
  int count = 0;
  host<Symbol::MPI_Graph_neighbors_count>(comm, as_word(rank), as_word(&count));
  neighbors.sources.resize(static_cast<std::size_t>(count));
  host<Symbol::MPI_Graph_neighbors>(comm, as_word(rank), as_word(count), as_word(neighbors.sources.data()));
  neighbors.destinations = neighbors.sources;
}

void add_distributed_graph(Word comm, Neighbors& neighbors) {
  int sources = 0;
  int destinations = 0;
  int weighted = 0;
  host<Symbol::MPI_Dist_graph_neighbors_count>(comm, as_word(&sources), as_word(&destinations), as_word(&weighted));
  neighbors.sources.resize(static_cast<std::size_t>(sources));
  neighbors.destinations.resize(static_cast<std::size_t>(destinations));
  std::vector<int> source_weights(neighbors.sources.size() + 1);
  std::vector<int> destination_weights(neighbors.destinations.size() + 1);
  host<Symbol::MPI_Dist_graph_neighbors>(comm, as_word(sources), as_word(neighbors.sources.data()),
                                         as_word(source_weights.data()), as_word(destinations),
                                         as_word(neighbors.destinations.data()), as_word(destination_weights.data()));
}

// What the host puts where, if every message is its number among those that its sender sends. MPI_Neighbor_alltoallw is
// answered for by MPI_Neighbor_alltoallv: MPICH 4.0 reads past its arrays where a rank sends to more than it receives
// from.
int ask_host(Word comm, const ExchangeShape& shape, const std::vector<int>& numbers, std::vector<int>& received) {
  const Word type = abi::int_type();
  if (shape.send.blocks == Blocks::each)
    return host<Symbol::MPI_Neighbor_alltoall>(as_word(numbers.data()), 1, type, as_word(received.data()), 1, type,
                                               comm);
  const std::size_t most = std::max(numbers.size(), received.size());
  const std::vector<int> ones(most, 1);
  std::vector<int> places(most);
  std::iota(places.begin(), places.end(), 0);
  return host<Symbol::MPI_Neighbor_alltoallv>(as_word(numbers.data()), as_word(ones.data()), as_word(places.data()),
                                              type, as_word(received.data()), as_word(ones.data()),
                                              as_word(places.data()), type, comm);
}

}  // namespace

Neighbors neighbors_of(Word comm, int rank) {
  Neighbors neighbors;
  int topology = abi::undefined;
  host<Symbol::MPI_Topo_test>(comm, as_word(&topology));
  neighbors.has_topology = true;
  if (topology == abi::topology_cartesian)
    add_cartesian(comm, neighbors);
  else if (topology == abi::topology_graph)
    add_graph(comm, rank, neighbors);
  else if (topology == abi::topology_distributed_graph)
    add_distributed_graph(comm, neighbors);
  else
    neighbors.has_topology = false;
  return neighbors;
}

const std::vector<int>& arrival_order(const Communicator& communicator, Neighbors& neighbors,
                                      const ExchangeShape& shape) {
  const std::size_t variant = shape.send.blocks == Blocks::each ? 0 : 1;
  std::vector<int>& order = neighbors.arrival[variant];
  if (neighbors.arrival_known[variant]) [[likely]]
    return order;
  std::vector<int> numbers(neighbors.destinations.size() + 1);  // one more: never a null pointer
  std::vector<int> received(neighbors.sources.size() + 1, -1);
  std::iota(numbers.begin(), numbers.end(), 0);
  order.resize(neighbors.sources.size());
  std::iota(order.begin(), order.end(), 0);
  neighbors.arrival_known[variant] = true;
  if (ask_host(communicator.handle, shape, numbers, received) != 0) return order;
  const auto number_at = [&](int place) { return received[static_cast<std::size_t>(place)]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return number_at(a) < number_at(b); });
  return order;
}

}  // namespace millrace::shim
