// The neighbours of a rank in the topology of its communicator (MPI 4.1, chapter 8).
//
// Two ranks may be neighbours more than once: both ways round a periodic dimension of two processes, or an edge that a
// distributed graph lists twice. Which of a rank's messages then goes where was cleared up by MPI 4.0 only, and hosts
// differ. So each communicator asks its host once, by a call of the host that sends every message's number.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "shim/exchange_call.h"

namespace millrace::shim {

struct Communicator;

struct Neighbors {
  bool has_topology = false;
  std::vector<int> sources;       // in the order of the receive buffer; MPI_PROC_NULL at an edge
  std::vector<int> destinations;  // in the order of the send buffer

  // The places in `sources` in the order in which messages of one source were sent, for MPI_Neighbor_alltoall and for v
  // and w: a host may have different ideas there. Empty until asked for.
  std::array<std::vector<int>, 2> arrival;
  std::array<bool, 2> arrival_known{};
};

// Local. Throws std::bad_alloc.
Neighbors neighbors_of(Word comm, int rank);

// Collective over the communicator the first time for each of the two, a few nanoseconds later. Throws
// std::bad_alloc.
const std::vector<int>& arrival_order(const Communicator& communicator, Neighbors& neighbors,
                                      const ExchangeShape& shape);

}  // namespace millrace::shim
