#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "record/peers_json.h"
#include "record/report.h"

namespace millrace::record {
namespace {

using nlohmann::ordered_json;

std::uint64_t whole_ns(double time_ns) { return static_cast<std::uint64_t>(std::llround(time_ns)); }

ordered_json time_value(const Spread& spread) {
  return {{"min", whole_ns(spread.min)},
          {"median", whole_ns(spread.median)},
          {"max", whole_ns(spread.max)},
          {"max_rank", spread.max_rank}};
}

ordered_json share_value(const Spread& spread) {
  return {{"min", spread.min}, {"median", spread.median}, {"max", spread.max}, {"max_rank", spread.max_rank}};
}

ordered_json algorithm_values(const CallRecord& call) {
  ordered_json values = ordered_json::array();
  for (const AlgorithmRecord& algorithm : call.algorithms)
    values.push_back({{"name", algorithm.name},
                      {"calls", algorithm.calls},
                      {"bytes", algorithm.bytes},
                      {"time_ns", algorithm.time_ns}});
  return values;
}

// None of a call that never has any bytes.
ordered_json size_values(const CallRecord& call) {
  ordered_json values = ordered_json::array();
  if (call.bytes == 0) return values;
  for (const SizeRecord& size : call.sizes)
    values.push_back({{"least_bytes", size.least_bytes},
                      {"calls", size.calls},
                      {"taken", size.taken},
                      {"bytes", size.bytes},
                      {"time_ns", size.time_ns}});
  return values;
}

ordered_json reason_values(const CallRecord& call) {
  ordered_json values = ordered_json::object();
  for (std::size_t reason = 1; reason < reason_count; ++reason)
    if (call.outcome[reason] > 0) values[reason_name(static_cast<Reason>(reason))] = call.outcome[reason];
  return values;
}

ordered_json saved_value(const SavedTime& saved) {
  static constexpr double most_ns = 9e18;
  const auto whole = [](double time_ns) { return std::llround(std::clamp(time_ns, -most_ns, most_ns)); };
  return {{"calls", saved.calls}, {"time_ns", whole(saved.time_ns)}, {"error_ns", whole(saved.error_ns)}};
}

ordered_json call_value(const CallReport& call) {
  return {{"name", call.sum.name},
          {"calls", call.sum.calls()},
          {"bytes", call.sum.bytes},
          {"time_ns", call.sum.time_ns},
          {"ranks", call.ranks},
          {"rank_time_ns", time_value(call.time_ns)},
          {"taken", call.sum.taken()},
          {"algorithms", algorithm_values(call.sum)},
          {"forwarded", call.sum.calls() - call.sum.taken()},
          {"forwarded_why", reason_values(call.sum)},
          {"saved", saved_value(call.sum.saved)},
          {"sizes", size_values(call.sum)}};
}

ordered_json late_values(std::span<const LateReport> ranks) {
  ordered_json values = ordered_json::array();
  for (const LateReport& late : ranks)
    values.push_back(
        {{"rank", late.rank}, {"late_calls", late.calls}, {"caused_ns", late.caused_ns}, {"wait_ns", late.wait_ns}});
  return values;
}

ordered_json wait_value(const WaitReport& wait) {
  ordered_json ranks = ordered_json::array();
  for (const LateReport& late : wait.by_rank)
    ranks.push_back({{"rank", late.rank}, {"late_calls", late.calls}, {"caused_ns", late.caused_ns}});
  return {{"name", wait.sum.call},       {"communicator", wait.sum.communicator}, {"compared", wait.sum.compared},
          {"time_ns", wait.sum.time_ns}, {"wait_ns", wait.sum.wait_ns},           {"late_ranks", std::move(ranks)}};
}

ordered_json rank_value(const RankReport& rank) {
  return {{"rank", rank.identity.rank},       {"host", rank.identity.host},
          {"pid", rank.identity.pid},         {"host_mpi", rank.identity.host_mpi},
          {"preload", rank.identity.variant}, {"isa", rank.identity.isa},
          {"wall_ns", rank.identity.wall_ns}, {"mpi_ns", rank.time_ns},
          {"mpi_share", rank.mpi_share},      {"threads", rank.threads},
          {"lost_calls", rank.lost_calls}};
}

ordered_json total_value(const Report& report) {
  std::uint64_t calls = 0, bytes = 0, time_ns = 0, taken = 0;
  for (const CallReport& call : report.calls) {
    calls += call.sum.calls();
    bytes += call.sum.bytes;
    time_ns += call.sum.time_ns;
    taken += call.sum.taken();
  }
  return {{"calls", calls},
          {"bytes", bytes},
          {"time_ns", time_ns},
          {"taken", taken},
          {"forwarded", calls - taken},
          {"saved", saved_value(saved_by(report.calls))}};
}

ordered_json setting_values(const Report& report) {
  ordered_json values = ordered_json::object();
  if (!report.by_rank.empty())
    for (const auto& [variable, value] : report.by_rank.front().identity.settings) values[variable] = value;
  return values;
}

}  // namespace

std::string to_json(const Report& report) {
  ordered_json calls = ordered_json::array();
  for (const CallReport& call : report.calls) calls.push_back(call_value(call));
  ordered_json waits = ordered_json::array();
  for (const WaitReport& wait : report.waits) waits.push_back(wait_value(wait));
  ordered_json by_rank = ordered_json::array();
  for (const RankReport& rank : report.by_rank) by_rank.push_back(rank_value(rank));
  const ordered_json value = {{"schema", "millrace-report"},
                              {"schema_version", report_schema_version},
                              {"millrace", MILLRACE_VERSION},
                              {"ranks", report.ranks},
                              {"hosts", report.hosts},
                              {"settings", setting_values(report)},
                              {"wall_ns", time_value(report.wall_ns)},
                              {"mpi_ns", time_value(report.time_ns)},
                              {"mpi_share", share_value(report.mpi_share)},
                              {"total", total_value(report)},
                              {"calls", std::move(calls)},
                              {"late_ranks", late_values(report.late)},
                              {"waits", std::move(waits)},
                              {"phases", phases_value(report.phases)},
                              {"communicators", communicator_values(report.communicators)},
                              {"peers", peers_value(report.peers)},
                              {"regions", regions_value(report.regions)},
                              {"by_rank", std::move(by_rank)},
                              {"notes", report.notes}};
  // Replace: a host name need not be UTF-8, and a report is better than none.
  return value.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace millrace::record
