#include "plan/over_nodes.h"

#include <algorithm>

namespace millrace::plan {

using collective::Kind;

// On two nodes of two ranks, which share two cores (bench/turns --nodes 2, docs/results/turns.md), the first four won
// on every host. Gather and Scatter, of which a job finds out nothing, lost most where they were not measured to win.
// MPI_Bcast has no threshold in bytes: a rank may expect more than is sent.
bool host_crosses_faster(const HostFacts& host, const NodesShape& shape, Kind kind, std::int64_t bytes) {
  // One rank a node has nobody to share a step with.
  if (shape.nodes == shape.ranks || shape.nodes < 2) return true;
  // What was not measured, or won nowhere (MPI_Allgatherv: 0.55 to 1.34 on Open MPI 4).
  if (!shape.is_usual || (kind == Kind::alltoall && !shape.is_even)) return true;
  switch (kind) {
    case Kind::barrier:
    case Kind::bcast:
    case Kind::reduce:
    case Kind::allreduce: return false;
    case Kind::allgather: return !host.crossing_allgather.holds(bytes);
    case Kind::alltoall: return !host.crossing_alltoall.holds(bytes);
    // A node sends something to each other one, where hosts halve what is left: on three nodes of Open MPI 4, 48 KiB
    // were 24 packets of ours and 11 of its own, 0.70 of its time.
    case Kind::reduce_scatter:
      return !host.crossing_reduce_scatter.holds(std::max<std::int64_t>(bytes / (shape.nodes - 1), 1));
    case Kind::gather:
    case Kind::scatter: {
      // Of a count that is wrong the product may not fit.
      const std::int64_t places = shape.ranks / shape.nodes;
      return !shape.is_even || !host.crossing_rooted.holds(std::min(bytes, any_size / places) * places);
    }
    case Kind::scan: return !host.crossing_scan.holds(bytes);
    case Kind::exscan: return !host.crossing_exscan.holds(bytes);
    default: return true;
  }
}

}  // namespace millrace::plan
