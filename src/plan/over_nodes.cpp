#include "plan/over_nodes.h"

namespace millrace::plan {

using collective::Kind;

// Two nodes of two ranks, which share two cores (bench/turns --nodes 2, docs/results/turns.md): these four win on every
// host, the others on some and not on others. Gather and Scatter, of which a job finds out nothing, lose most. No
// threshold in bytes: a rank may expect more of MPI_Bcast than is sent.
bool host_crosses_faster(const NodesShape& shape, Kind kind) {
  // One rank a node has nobody to share a step with.
  if (shape.nodes == shape.ranks) return true;
  return kind != Kind::barrier && kind != Kind::bcast && kind != Kind::reduce && kind != Kind::allreduce;
}

}  // namespace millrace::plan
