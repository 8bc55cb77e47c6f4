// Whether a collective of ranks on several nodes is left to the host although it could be done by a step in each node
// and the host between nodes (src/collective/across). Depends on what all ranks know to be equal.
#pragma once

#include <cstdint>

#include "collective/selection.h"
#include "plan/host_facts.h"

namespace millrace::plan {

struct NodesShape {
  std::uint32_t ranks = 0, nodes = 0;
  bool is_even = false;  // each node has as many ranks
  bool is_usual = true;  // no reduction that folds a row of each rank (Across::folds_rows()), nor MPI_Allgatherv
};

// What holds as long as the job has not found out otherwise (evidence.h).
// `bytes`: of a block; of what a rank gives to a reduction. Not looked at for MPI_Bcast.
bool host_crosses_faster(const HostFacts& host, const NodesShape& shape, collective::Kind kind, std::int64_t bytes);

}  // namespace millrace::plan
