// What a collective of ranks on several nodes comes to: the composition of src/collective/across is walked through as
// each rank of a node would, with a node and a wire that do nothing but count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "collective/across/across.h"
#include "plan/wire_messages.h"

namespace millrace::plan {

struct NodesStep {
  std::string_view name;       // "bcast", or "messages"
  bool crosses = false;        // between nodes; else within each
  std::uint32_t ranks = 0;     // of a node, that are in it
  std::uint32_t in_a_row = 1;  // calls of each rank, at most, before the next step
  std::uint64_t times = 0;
  std::size_t least_bytes = 0, most_bytes = 0;
};

struct NodesWalk {
  bool is_done = false;          // else such calls are the host's, and nothing of the rest is set
  std::vector<NodesStep> steps;  // of each piece
  std::uint64_t pieces = 0;
  std::vector<std::pair<WireCall, std::uint64_t>> calls;  // of the host between nodes, and how often each is made
};

// `bytes`: of what a rank gives, or of a block between two. Nothing: no memory, or it would take too
// long. `in_rank_order`: of a reduction whose result hangs on the order of ranks, where it is to be theirs.
std::optional<NodesWalk> walk_over_nodes(std::span<const std::uint32_t> node_names, collective::Kind kind,
                                         std::size_t bytes, std::uint32_t root,
                                         const collective::Across::Limits& limits = {}, bool in_rank_order = false);

// The same call as the program makes it, for its host.
WireCall call_of_host(collective::Kind kind, std::uint32_t ranks, std::size_t bytes, std::uint32_t root);

}  // namespace millrace::plan
