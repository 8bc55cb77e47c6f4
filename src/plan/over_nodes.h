// Whether a collective of ranks on several nodes is left to the host although it could be done by a step in each node
// and the host between nodes (src/collective/across). Depends on what all ranks know to be equal.
#pragma once

#include <cstdint>

#include "collective/selection.h"

namespace millrace::plan {

struct NodesShape {
  std::uint32_t ranks = 0, nodes = 0;
  bool is_even = false;  // each node has as many ranks
};

// What holds as long as the job has not found out otherwise (evidence.h).
bool host_crosses_faster(const NodesShape& shape, collective::Kind kind);

}  // namespace millrace::plan
