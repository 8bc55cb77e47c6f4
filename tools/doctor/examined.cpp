#include "tools/doctor/examined.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace millrace::tools {
namespace {

using nlohmann::json;

// They are in neither the wall time nor the time inside MPI.
constexpr std::string_view outside[] = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize"};

json part(const json& value, const char* name) {
  return value.is_object() ? value.value(name, json::object()) : json::object();
}

json list(const json& value, const char* name) {
  json found = value.value(name, json::array());
  return found.is_array() ? found : json::array();
}

std::int64_t number(const json& value, const char* name) { return value.value(name, std::int64_t{0}); }
std::uint64_t count(const json& value, const char* name) { return value.value(name, std::uint64_t{0}); }

void add(ExaminedCall& sum, const json& call) {
  const json spread = part(call, "rank_time_ns"), saved = part(call, "saved"), why = part(call, "forwarded_why");
  const bool is_first = sum.calls == 0;
  sum.calls += count(call, "calls");
  sum.taken += count(call, "taken");
  sum.ranks += count(call, "ranks");
  sum.time_ns += number(call, "time_ns");
  for (const json& algorithm : list(call, "algorithms")) sum.taken_ns += number(algorithm, "time_ns");
  sum.least_ns = is_first ? number(spread, "min") : std::min(sum.least_ns, number(spread, "min"));
  if (is_first || number(spread, "max") > sum.most_ns) {
    sum.most_ns = number(spread, "max");
    sum.most_rank = count(spread, "max_rank");
  }
  for (const auto& [reason, calls] : why.items()) sum.why[reason] += calls.get<std::uint64_t>();
  sum.saved_calls += count(saved, "calls");
  sum.saved_ns += number(saved, "time_ns");
  sum.error_ns += number(saved, "error_ns");
}

// The node that a report is of, by the name of its file: "report.NODE.json" where there are others, else "".
std::string node_of(const json& report) {
  const std::string file = report.value("file", "");
  const json ranks = list(report, "by_rank");
  const std::string before = "report.", behind = ".json";
  if (ranks.empty() || !file.starts_with(before + ranks[0].value("host", "") + '.')) return {};
  return file.substr(before.size(), file.size() - before.size() - behind.size());
}

void add_ranks(Examined& sum, const json& report) {
  // Nodes may have one name, as containers and those that are pretended.
  const std::string node = node_of(report);
  sum.tells_of_other_nodes = sum.tells_of_other_nodes || !node.empty();
  for (const json& rank : list(report, "by_rank")) {
    sum.node_of[count(rank, "rank")] = node.empty() ? rank.value("host", "") : node;
    const std::string host_mpi = rank.value("host_mpi", "");
    if (sum.host_mpi.empty()) sum.host_mpi = host_mpi.substr(0, host_mpi.find(','));
    sum.wall_ns = std::max(sum.wall_ns, number(rank, "wall_ns"));
    sum.ranks_ns += number(rank, "wall_ns");
    sum.mpi_ns += number(rank, "mpi_ns");
    sum.least_mpi_ns =
        sum.node_of.size() == 1 ? number(rank, "mpi_ns") : std::min(sum.least_mpi_ns, number(rank, "mpi_ns"));
  }
}

}  // namespace

std::map<std::string, std::vector<std::uint64_t>> Examined::nodes() const {
  std::map<std::string, std::vector<std::uint64_t>> found;
  for (const auto& [rank, node] : node_of) found[node].push_back(rank);
  return found;
}

std::string Examined::setting(std::string_view variable) const {
  const auto found = settings.find(std::string(variable));
  return found == settings.end() ? std::string() : found->second;
}

Examined examine(const std::vector<json>& reports) {
  Examined sum;
  std::map<std::string, ExaminedCall> calls;
  for (const json& report : reports) {
    sum.ranks = std::max(sum.ranks, count(report, "ranks"));
    add_ranks(sum, report);
    for (const json& call : list(report, "calls")) {
      const std::string name = call.value("name", "");
      if (std::ranges::find(outside, name) == std::end(outside)) add(calls[name], call);
    }
    const json settings = part(report, "settings");
    if (sum.settings.empty())
      for (const auto& [variable, value] : settings.items())
        sum.settings[variable] = value.is_string() ? value.get<std::string>() : std::string();
    for (const json& note : list(report, "notes"))
      // How many are missing is counted here, over all nodes.
      if (note.is_string() && note.get<std::string>().find("missing from this report") == std::string::npos)
        sum.notes.push_back(note.get<std::string>());
  }
  for (auto& [name, call] : calls) {
    call.name = name;
    sum.calls.push_back(std::move(call));
  }
  std::ranges::stable_sort(sum.calls, std::ranges::greater(), &ExaminedCall::time_ns);
  return sum;
}

}  // namespace millrace::tools
