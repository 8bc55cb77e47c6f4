// Reports that no job has written.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/doctor/findings.h"

namespace millrace::tools::made {

using nlohmann::json;

inline constexpr std::int64_t wall_ns = 10'000'000'000;  // of each rank, half of it inside MPI

// Ranks by number with the node of each: {"a", "a", "b", "b"}.
inline json report(const std::vector<std::string>& nodes, const std::vector<json>& calls = {}, std::size_t ranks = 0) {
  json by_rank = json::array();
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    by_rank.push_back({{"rank", rank},
                       {"host", nodes[rank]},
                       {"host_mpi", "Open MPI v4.1.4, package: any"},
                       {"wall_ns", wall_ns},
                       {"mpi_ns", wall_ns / 2}});
  return {{"schema", "millrace-report"}, {"ranks", ranks ? ranks : nodes.size()},
          {"settings", json::object()},  {"calls", calls},
          {"by_rank", by_rank},          {"notes", json::array()}};
}

struct Times {
  std::int64_t all_ns = 0, least_ns = 0, most_ns = 0, taken_ns = 0;
};

using Why = std::map<std::string, std::uint64_t>;  // calls that were left, by reason

// Of two ranks, if `why` and `taken` do not say otherwise.
inline json call(const char* name, std::uint64_t taken, const Why& why, const Times& times, int ranks = 2) {
  std::uint64_t calls = taken;
  for (const auto& [reason, times_left] : why) calls += times_left;
  json algorithms = json::array();
  if (taken > 0) algorithms.push_back({{"name", "any"}, {"calls", taken}, {"time_ns", times.taken_ns}});
  return {{"name", name},
          {"calls", calls},
          {"taken", taken},
          {"ranks", ranks},
          {"time_ns", times.all_ns},
          {"rank_time_ns", {{"min", times.least_ns}, {"max", times.most_ns}, {"max_rank", 1}}},
          {"algorithms", algorithms},
          {"forwarded_why", json(why)},
          {"saved", {{"calls", 0}, {"time_ns", 0}, {"error_ns", 0}}}};
}

inline const Finding* find(const std::vector<Finding>& findings, std::string_view name) {
  for (const Finding& finding : findings)
    if (finding.name == name) return &finding;
  return nullptr;
}

inline bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace millrace::tools::made
