#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/affinity.h"
#include "base/quota.h"
#include "tools/doctor/calls.h"
#include "tools/doctor/findings.h"

namespace millrace::tools {
namespace {

std::string ranks_text(std::uint64_t ranks) { return fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s"); }

void look_at_missing_ranks(const Examined& job, std::vector<Finding>& found) {
  if (job.arrived() >= job.ranks) return;
  const std::string missing = fmt::format("{} of {} left no record", job.ranks - job.arrived(), ranks_text(job.ranks));
  if (job.tells_of_other_nodes) {
    found.push_back({"missing_nodes",
                     missing +
                         ": those of other nodes write theirs into their own temporary directory, unless they run "
                         "without Millrace",
                     "set TMPDIR to a directory that all nodes share, and run this again",
                     {},
                     {}});
    return;
  }
  found.push_back({"missing_ranks",
                   missing + ": they run without Millrace, or did not come to MPI_Finalize. One rank without Millrace "
                             "is enough to leave its communicators to the host MPI",
                   "put 'millrace' in front of every program of the job, also of those behind ':'; the lines that it "
                   "printed above say why it stays away from one",
                   {},
                   {}});
}

void look_at_processors(const Examined& job, const Here& here, std::vector<Finding>& found) {
  const auto nodes = job.nodes();
  const auto node = nodes.find(here.node);
  if (here.processors == 0 || node == nodes.end() || node->second.size() <= here.processors) return;
  found.push_back(
      {"ranks_outnumber_processors",
       fmt::format("{} share {} processor{} of node {}: they wait for a processor as well as for each other",
                   ranks_text(node->second.size()), here.processors, here.processors == 1 ? "" : "s", here.node),
       fmt::format("no more than {} on this node, or more processors for the job (affinity mask, control group)",
                   ranks_text(here.processors)),
       {},
       {}});
}

void look_at_placement(const Examined& job, std::vector<Finding>& found) {
  const auto nodes = job.nodes();
  if (job.ranks == 1)
    found.push_back({"one_rank",
                     "the job has one rank: its collectives move nothing",
                     "if more were started, they do not see each other: use the launcher of the MPI that the program "
                     "was built with",
                     {},
                     {}});
  else if (nodes.size() > 1 && nodes.size() == job.arrived())
    found.push_back({"one_rank_per_node",
                     "each node has one rank: there is nobody with whom it could share memory",
                     "more ranks on each node, on fewer nodes",
                     {},
                     {}});
}

// A setting that keeps calls from us, and the calls that show it.
struct Switch {
  const char* variable;
  const char* value;
  const char* reason;
  bool of_collectives;  // or of all others
  const char* what;
};
constexpr Switch switches[] = {
    {"MILLRACE_COLLECTIVES", "never", "not_accelerated", true, "all collectives"},
    {"MILLRACE_LAYOUTS", "never", "host_is_faster", false, "messages of derived datatypes"},
};

void look_at_settings(const Examined& job, std::vector<Finding>& found) {
  for (const Switch& each : switches) {
    if (job.setting(each.variable) != each.value) continue;
    std::int64_t time_ns = 0;
    for (const ExaminedCall& call : job.calls)
      if (is_collective(call.name) == each.of_collectives && call.why.contains(each.reason)) time_ns += call.left_ns();
    if (time_ns > 0)
      found.push_back({each.variable,
                       fmt::format("{}={} leaves {} to the host MPI", each.variable, each.value, each.what),
                       fmt::format("unset {}", each.variable),
                       time_ns,
                       {}});
  }
  const std::string isa = job.setting("MILLRACE_ISA");
  if (!isa.empty() && isa != "auto")
    found.push_back({"MILLRACE_ISA",
                     fmt::format("MILLRACE_ISA={} chooses the kernels; without it they are the processor's best", isa),
                     "unset MILLRACE_ISA",
                     {},
                     {}});
}

}  // namespace

Here this_node() {
  char name[HOST_NAME_MAX + 1] = "";
  if (gethostname(name, sizeof name - 1) != 0) return {};
  std::size_t processors = allowed_processors().size();
  if (const auto cpus = read_cpu_quota().cpus)
    processors = std::min(processors, static_cast<std::size_t>(std::max(1.0, std::floor(*cpus))));
  return {name, processors};
}

std::string setting_in_the_way(const Examined& job, const std::string& call, const std::string& reason) {
  for (const Switch& each : switches)
    if (job.setting(each.variable) == each.value && reason == each.reason && is_collective(call) == each.of_collectives)
      return fmt::format("{}={}", each.variable, each.value);
  return {};
}

std::vector<Finding> setup_findings(const Examined& job, const Here& here) {
  std::vector<Finding> found;
  look_at_missing_ranks(job, found);
  look_at_processors(job, here, found);
  look_at_placement(job, found);
  look_at_settings(job, found);
  return found;
}

}  // namespace millrace::tools
