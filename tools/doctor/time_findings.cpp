#include <fmt/format.h>

#include <algorithm>

#include "record/units.h"
#include "tools/doctor/calls.h"
#include "tools/doctor/findings.h"

namespace millrace::tools {
namespace {

using record::percent;
using record::scaled_time;

constexpr double little_mpi = 0.05;
constexpr double two_errors = 2;

std::string time_text(std::int64_t time_ns) { return scaled_time(static_cast<double>(time_ns)); }

void look_at_share(const Examined& job, std::vector<Finding>& found) {
  if (job.ranks_ns <= 0) return;
  const double share = static_cast<double>(job.mpi_ns) / static_cast<double>(job.ranks_ns);
  if (share < little_mpi)
    found.push_back(
        {"little_mpi",
         fmt::format("the ranks spend {} of their time inside MPI: no MPI, and nothing below, can spare more",
                     percent(share)),
         "",
         job.mpi_ns,
         {}});
}

// Who comes last to a call that nobody leaves before all have come waits for nobody: what others spend there beyond
// that they wait. It is not the work of the program that makes a rank late if it comes from another call of MPI: then
// it spends no less time inside MPI than others.
void look_at_late_ranks(const Examined& job, std::vector<Finding>& found) {
  const std::int64_t uneven_ns = job.mpi_ns - static_cast<std::int64_t>(job.arrived()) * job.least_mpi_ns;
  for (const ExaminedCall& call : job.calls) {
    if (!waits_for_all(call.name) || call.ranks != job.arrived() || job.arrived() != job.ranks) continue;
    const std::int64_t waited_ns =
        std::min(uneven_ns, call.time_ns - static_cast<std::int64_t>(call.ranks) * call.least_ns);
    if (waited_ns * 2 < call.time_ns) continue;
    found.push_back({"late_ranks",
                     fmt::format("{} takes {} in one rank and {} in rank {}: most of it is waiting for the rank that "
                                 "comes last, which no MPI shortens",
                                 call.name, time_text(call.least_ns), time_text(call.most_ns), call.most_rank),
                     "spread the ranks' work more evenly, or let them meet less often",
                     waited_ns,
                     {}});
  }
}

void look_at_losses(const Examined& job, std::vector<Finding>& found) {
  for (const ExaminedCall& call : job.calls) {
    if (call.saved_calls == 0 || static_cast<double>(-call.saved_ns) <= two_errors * static_cast<double>(call.error_ns))
      continue;
    const std::string name = call.name.starts_with("MPI_") ? call.name.substr(4) : call.name;
    found.push_back({"slower_than_host",
                     fmt::format("{}: the host MPI would have been faster in {} calls that Millrace did", call.name,
                                 call.saved_calls),
                     fmt::format("leave it to the host MPI: MILLRACE_DISABLE={}", name),
                     {},
                     -call.saved_ns,
                     static_cast<std::int64_t>(two_errors * static_cast<double>(call.error_ns))});
  }
}

}  // namespace

std::vector<Finding> time_findings(const Examined& job) {
  std::vector<Finding> found;
  look_at_share(job, found);
  look_at_late_ranks(job, found);
  look_at_losses(job, found);
  return found;
}

bool is_worth_showing(const Finding& finding, const Examined& job) {
  if (finding.name == "little_mpi" || !finding.has_worth()) return true;
  return static_cast<double>(finding.weight_ns()) >= least_share * static_cast<double>(job.ranks_ns);
}

std::vector<Finding> all_findings(const Examined& job, const Here& here) {
  std::vector<Finding> found = setup_findings(job, here);
  // Who waits for a processor comes last by chance.
  const bool is_crowded =
      std::ranges::any_of(found, [](const Finding& each) { return each.name == "ranks_outnumber_processors"; });
  for (const auto& more : {reason_findings(job), time_findings(job)})
    found.insert(found.end(), more.begin(), more.end());
  if (is_crowded) std::erase_if(found, [](const Finding& each) { return each.name == "late_ranks"; });
  std::ranges::stable_sort(found, [](const Finding& one, const Finding& other) {
    if (one.has_worth() != other.has_worth()) return !one.has_worth();
    return one.weight_ns() > other.weight_ns();
  });
  return found;
}

}  // namespace millrace::tools
