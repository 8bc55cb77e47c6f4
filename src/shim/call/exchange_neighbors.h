// The neighbours of a rank in the topology of its communicator (MPI 4.1, chapter 8).
//
// Two ranks may be neighbours more than once: both ways round a periodic dimension of two processes, or an edge that a
// distributed graph lists twice. Which of a rank's messages then goes where was cleared up by MPI 4.0 only, and hosts
// differ: such a communicator's MPI_Neighbor_alltoall(v, w) stay with the host.
#pragma once

#include <optional>
#include <vector>

#include "shim/bind/word.h"

namespace millrace::shim {

struct Neighbors {
  bool has_topology = false;
  bool repeats = false;           // a rank is more than once among the sources, or among the destinations
  std::vector<int> sources;       // in the order of the receive buffer; MPI_PROC_NULL at an edge
  std::vector<int> destinations;  // in the order of the send buffer

  // Whether that is so on any rank of the communicator, once they have told each other.
  std::optional<bool> repeats_anywhere;
};

// Local. Throws std::bad_alloc.
Neighbors neighbors_of(Word comm, int rank);

}  // namespace millrace::shim
