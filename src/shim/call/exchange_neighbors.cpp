#include "shim/call/exchange_neighbors.h"

#include <algorithm>

#include "abi.h"
#include "shim/bind/forward.h"

namespace millrace::shim {
namespace {

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

bool has_repeats(std::vector<int> ranks) {
  std::erase(ranks, abi::proc_null);
  std::sort(ranks.begin(), ranks.end());
  return std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end();
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
  neighbors.repeats = has_repeats(neighbors.sources) || has_repeats(neighbors.destinations);
  return neighbors;
}

}  // namespace millrace::shim
