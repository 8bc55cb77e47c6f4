#include "tools/explain_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "collective/group_memory.h"
#include "collective/group_shape.h"
#include "plan/nodes_steps.h"

namespace millrace::tools {
namespace {

using collective::Kind;

const char* why(Kind kind) {
  switch (kind) {
    case Kind::barrier: return "who has come of a node is told to the others once";
    case Kind::bcast: return "the message comes to a node once, and its ranks read it there";
    case Kind::reduce: return "the ranks of a node are reduced there: one result leaves it";
    case Kind::allreduce: return "the ranks of a node are reduced there: one result leaves it, and one comes back";
    case Kind::reduce_scatter: return "the ranks of a node are reduced there before anything leaves it";
    case Kind::scan:
    case Kind::exscan: return "what a node comes to goes on once";
    case Kind::allgather: return "every block comes to a node once, and its ranks read it there";
    default: return "the blocks between two nodes travel together";
  }
}

const char* why_not(const OverNodes& call, const collective::Across::Limits& limits) {
  if (call.kind == Kind::neighbor) return "calls of neighbours are not done over nodes";
  if (!limits.exchanges) return "so many mailboxes on a node need too much memory";
  if (call.bytes == 0) return "there is nothing to do";
  return "of so many ranks too little of each block has room at a time";
}

std::string count_of(std::uint64_t number, const char* thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string size_of(const plan::NodesStep& step) {
  if (step.most_bytes == 0) return "";
  if (step.least_bytes == step.most_bytes) return fmt::format(" of {} bytes", step.most_bytes);
  return fmt::format(" of {} to {} bytes", step.least_bytes, step.most_bytes);
}

std::string in_a_row(const plan::NodesStep& step) {
  return step.in_a_row > 1 ? fmt::format(", {} one after the other", step.in_a_row) : "";
}

std::string steps_of(const plan::NodesWalk& walk, std::uint32_t nodes) {
  std::string text;
  int number = 0;
  for (const plan::NodesStep& step : walk.steps)
    text +=
        step.crosses
            ? fmt::format("  {}. between nodes, {} of the host at a time among {} ranks{}: {}{}\n", ++number,
                          count_of(step.ranks, "call"), nodes, in_a_row(step), step.name, size_of(step))
            : fmt::format("  {}. on each node, among {} ranks: {}{}\n", ++number, step.ranks, step.name, size_of(step));
  if (walk.pieces > 1) text += fmt::format("  in {} pieces, one after the other\n", walk.pieces);
  return text;
}

// The most of any node.
plan::NodeTraffic most_of(const std::vector<plan::NodeTraffic>& nodes) {
  plan::NodeTraffic most;
  for (const plan::NodeTraffic& node : nodes) {
    most.messages_out = std::max(most.messages_out, node.messages_out);
    most.bytes_out = std::max(most.bytes_out, node.bytes_out);
    most.bytes_in = std::max(most.bytes_in, node.bytes_in);
  }
  return most;
}

using Calls = std::vector<std::pair<plan::WireCall, std::uint64_t>>;

// Of calls of one kind, by each algorithm that hosts have for it.
std::string traffic(const Calls& calls, const std::vector<std::uint32_t>& node_of, std::uint32_t nodes) {
  std::string text;
  for (const plan::WireAlgorithm& algorithm : plan::wire_algorithms()) {
    if (calls.empty() || algorithm.kind != calls[0].first.kind) continue;
    std::vector<plan::NodeTraffic> found(nodes);
    for (const auto& [call, times] : calls) plan::add_traffic(algorithm, call, times, node_of, found);
    const plan::NodeTraffic most = most_of(found);
    text += fmt::format("  {:<18} {:>10} messages {:>14} bytes out {:>14} bytes in\n", algorithm.name,
                        most.messages_out, most.bytes_out, most.bytes_in);
  }
  return text;
}

}  // namespace

NodesExplanation explain_over_nodes(const OverNodes& call) {
  std::vector<std::uint32_t> node_of(call.ranks);
  for (std::uint32_t rank = 0; rank < call.ranks; ++rank)
    node_of[rank] = static_cast<std::uint32_t>(std::uint64_t{rank} * call.nodes / call.ranks);
  const std::uint32_t most_places = (call.ranks + call.nodes - 1) / call.nodes;
  collective::Across::Limits limits;
  if (most_places > 1) {
    const collective::GroupShape here = collective::shape_for(most_places, collective::usual_group_bytes);
    if (here.ranks == 0)
      return {false, fmt::format("{} ranks on a node: the host MPI, no memory is shared by so many\n", most_places)};
    limits = collective::Across::limits_of(here);
  }
  const std::string head =
      fmt::format("{} of {} bytes over {} nodes of {}{} ranks: ", collective::kind_name(call.kind), call.bytes,
                  call.nodes, call.ranks % call.nodes == 0 ? "" : "up to ", most_places);
  const auto walk = plan::walk_over_nodes(node_of, call.kind, call.bytes, 0, limits, call.in_rank_order);
  if (!walk) return {false, head + "too many pieces to walk through\n"};
  NodesExplanation explanation{walk->is_done, head};
  if (walk->is_done) {
    std::vector<std::uint32_t> itself(call.nodes);
    std::iota(itself.begin(), itself.end(), 0u);
    explanation.text += fmt::format(
        "nodes_{}\n{}  because {}\n", collective::kind_name(call.kind), steps_of(*walk, call.nodes),
        call.in_rank_order ? "the data of all ranks come to where they are folded in order" : why(call.kind));
    explanation.text += "on the wire, of the node that has most, if the host goes between nodes by\n" +
                        traffic(walk->calls, itself, call.nodes);
  } else {
    explanation.text += fmt::format("the host MPI\n  because {}\n", why_not(call, limits));
  }
  const plan::WireCall alone = plan::call_of_host(call.kind, call.ranks, call.bytes, 0);
  const std::string flat = traffic({{alone, 1}}, node_of, call.nodes);
  if (!flat.empty()) explanation.text += "the same by the host alone, if it does not look at nodes, by\n" + flat;
  return explanation;
}

}  // namespace millrace::tools
