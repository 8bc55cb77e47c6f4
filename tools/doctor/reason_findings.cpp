#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/doctor/calls.h"
#include "tools/doctor/findings.h"
#include "tools/doctor/reasons.h"

namespace millrace::tools {
namespace {

// Calls that went to the host for one reason.
struct Left {
  std::uint64_t calls = 0;
  std::int64_t at_most_ns = 0;  // the report has no times by reason
  std::vector<std::string> names;
};

std::map<std::string, Left> left_by_reason(const Examined& job) {
  std::map<std::string, Left> found;
  for (const ExaminedCall& call : job.calls)
    for (const auto& [reason, calls] : call.why) {
      Left& left = found[reason];
      left.calls += calls;
      left.at_most_ns += call.left_ns();
      left.names.push_back(call.name);
    }
  return found;
}

std::string names_text(const Left& left) {
  constexpr std::size_t most_names = 3;
  std::string text;
  for (std::size_t index = 0; index < std::min(most_names, left.names.size()); ++index)
    text += (index == 0 ? "" : ", ") + left.names[index];
  return left.names.size() > most_names ? text + " and others" : text;
}

std::uint64_t communicators_made(const Examined& job) {
  std::uint64_t made = 0;
  for (const ExaminedCall& call : job.calls)
    if (makes_communicator(call.name)) made += call.calls;
  return made;
}

// The first eight collectives of a communicator are the host's, in doubt sixteen: docs/collectives.md.
constexpr std::uint64_t first_calls = 16;

void advise_agreement(const Examined& job, Finding& finding, const Left& left) {
  const std::uint64_t made = communicators_made(job), worlds = job.arrived();
  const std::string nodes = job.setting("MILLRACE_NODES");
  if (left.calls <= first_calls * (worlds + made)) {
    if (made <= worlds) return;
    finding.says += fmt::format("; the ranks made {} of them", made);
    finding.change = "keep communicators and use them again, instead of making new ones";
  } else if (job.arrived() < job.ranks) {
    finding.change = "run every rank with Millrace: one without it leaves its communicators to the host MPI";
  } else if (job.nodes().size() > 1) {
    finding.change = nodes == "never" ? "unset MILLRACE_NODES: 'never' keeps ranks of several nodes apart"
                                      : "start it as 'millrace mpirun ...', or set MILLRACE_NODES=always, so that "
                                        "ranks of several nodes work together";
  } else {
    finding.change = "MILLRACE_LOG=info says what stood in the way; docs/collectives.md lists what can";
  }
}

Finding finding_of(const Examined& job, const std::string& reason, const Left& left) {
  const ReasonWords* const words = reason_words(reason);
  Finding finding;
  finding.name = reason;
  finding.says = fmt::format("{} call{} of {}: {}", left.calls, left.calls == 1 ? "" : "s", names_text(left),
                             why_in_words(reason));
  finding.at_most_ns = left.at_most_ns;
  if (words) finding.change = words->change;
  if (reason == "host_is_faster" && std::ranges::none_of(left.names, is_collective))
    finding.change = "'millrace tune -- mpirun -n 2' measures on this machine who packs derived datatypes faster";
  // That is a finding of its own.
  if (std::ranges::none_of(left.names,
                           [&](const std::string& name) { return setting_in_the_way(job, name, reason).empty(); }))
    finding.change.clear();
  if (reason == "not_agreed") advise_agreement(job, finding, left);
  if (reason == "disabled" || reason == "no_buffer") {
    const char* const variable = reason == "disabled" ? "MILLRACE_DISABLE" : "MILLRACE_BUFFERS";
    if (const std::string value = job.setting(variable); !value.empty())
      finding.change += fmt::format(" (now: {})", value);
  }
  return finding;
}

}  // namespace

std::vector<Finding> reason_findings(const Examined& job) {
  std::vector<Finding> found;
  for (const auto& [reason, left] : left_by_reason(job)) found.push_back(finding_of(job, reason, left));
  return found;
}

}  // namespace millrace::tools
