#include <nlohmann/json.hpp>

#include "tools/doctor/reasons.h"
#include "tools/doctor/shown.h"

namespace millrace::tools {
namespace {

using nlohmann::ordered_json;

ordered_json call_json(const ExaminedCall& call) {
  ordered_json why = ordered_json::array();
  for (const auto& [reason, calls] : call.why)
    why.push_back({{"reason", reason}, {"calls", calls}, {"text", why_in_words(reason)}});
  ordered_json result = {
      {"name", call.name},         {"calls", call.calls},       {"taken", call.taken}, {"time_ns", call.time_ns},
      {"taken_ns", call.taken_ns}, {"left_ns", call.left_ns()}, {"left", why}};
  if (call.saved_calls > 0)
    result["saved"] = {{"calls", call.saved_calls}, {"time_ns", call.saved_ns}, {"error_ns", call.error_ns}};
  return result;
}

ordered_json finding_json(const Finding& finding, const Examined& job) {
  ordered_json result = {{"name", finding.name}, {"says", finding.says}, {"change", finding.change}};
  if (finding.gain_ns) {
    result["gain_ns"] = *finding.gain_ns;
    result["error_ns"] = finding.error_ns;
  }
  if (finding.at_most_ns) result["at_most_ns"] = *finding.at_most_ns;
  result["is_shown"] = !finding.change.empty() && is_worth_showing(finding, job);
  return result;
}

}  // namespace

std::string as_json(const Diagnosis& diagnosis) {
  const Examined& job = diagnosis.job;
  ordered_json calls = ordered_json::array(), findings = ordered_json::array();
  for (const ExaminedCall& call : job.calls) calls.push_back(call_json(call));
  for (const Finding& finding : diagnosis.findings) findings.push_back(finding_json(finding, job));
  const ordered_json result = {{"schema", "millrace-doctor"},
                               {"schema_version", 1},
                               {"millrace", MILLRACE_VERSION},
                               {"command", diagnosis.command},
                               {"exit_code", diagnosis.exit_code},
                               {"host_mpi", job.host_mpi},
                               {"ranks", job.ranks},
                               {"recorded_ranks", job.arrived()},
                               {"nodes", job.nodes().size()},
                               {"wall_ns", job.wall_ns},
                               {"ranks_ns", job.ranks_ns},
                               {"mpi_ns", job.mpi_ns},
                               {"notes", job.notes},
                               {"calls", calls},
                               {"findings", findings}};
  // Words of a command need not be UTF-8.
  return result.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace millrace::tools
