#include "plan/over_nodes.h"

namespace millrace::plan {

bool host_crosses_faster(const NodesShape& shape, collective::Kind, std::uint64_t) {
  // One rank a node has nobody to share a step with.
  return shape.nodes == shape.ranks;
}

}  // namespace millrace::plan
