// What `millrace explain --nodes` says of the way of a call over nodes: its steps, and what is on the wire.
#pragma once

#include <cstdint>
#include <string>

#include "collective/selection.h"

namespace millrace::tools {

// `ranks` in all, in the order of the nodes, which have as many each, or one more.
struct OverNodes {
  collective::Kind kind;
  std::uint64_t bytes;
  std::uint32_t ranks, nodes;
  bool in_rank_order = false;  // a reduction whose result hangs on the order of ranks, which is kept
};

struct NodesExplanation {
  bool is_done = false;  // over nodes; else all hosts do it alone
  std::string text;
};
NodesExplanation explain_over_nodes(const OverNodes& call);

}  // namespace millrace::tools
