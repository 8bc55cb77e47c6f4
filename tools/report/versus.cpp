#include "tools/report/versus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace millrace::tools {

std::vector<CallPair> pair_calls(const Run& first, const Run& second) {
  std::map<std::string, CallPair> by_name;
  for (const RunCall& call : first.calls) by_name[call.name].first = &call;
  for (const RunCall& call : second.calls) by_name[call.name].second = &call;
  std::vector<CallPair> pairs;
  for (auto& [name, pair] : by_name) {
    pair.name = name;
    pairs.push_back(pair);
  }
  std::ranges::stable_sort(pairs, std::ranges::greater(), [&](const CallPair& pair) {
    return std::max(mean_rank_ns(first, pair.first), mean_rank_ns(second, pair.second));
  });
  return pairs;
}

double mean_rank_ns(const Run& run, const RunCall* call) {
  // Of those that have a record: the time of others is not in the sum.
  return call && !run.by_rank.empty() ? call->time_ns / static_cast<double>(run.by_rank.size()) : 0;
}

std::string change_in_words(double first, double second) {
  if (first == second) return "same";
  if (first <= 0) return "new";
  if (second <= 0) return "gone";
  const double ratio = second / first;
  if (ratio >= 2) return fmt::format("x {:.{}f}", ratio, ratio < 10 ? 1 : 0);
  const double change = 100 * (ratio - 1);
  return std::fabs(change) < 0.5 ? "same" : fmt::format("{:+.0f} %", change);
}

std::vector<std::string> differences(const Run& first, const Run& second) {
  std::vector<std::string> lines;
  const auto compare = [&](const char* what, const std::string& left, const std::string& right) {
    if (left != right) lines.push_back(fmt::format("{}: A {}, B {}", what, left, right));
  };
  compare("ranks", std::to_string(first.ranks), std::to_string(second.ranks));
  compare("hosts", std::to_string(first.hosts), std::to_string(second.hosts));
  compare("host MPI", first.host_mpi, second.host_mpi);
  compare("preload", first.preload, second.preload);
  compare("kernels", first.isa, second.isa);
  compare("millrace", first.version, second.version);
  std::set<std::string> variables;
  for (const Run* run : {&first, &second})
    for (const auto& [variable, value] : run->settings) variables.insert(variable);
  for (const std::string& variable : variables) {
    // The name of the file that it went to.
    if (variable == "MILLRACE_REPORT") continue;
    const auto text = [&](const Run& run) {
      const auto found = run.settings.find(variable);
      return found == run.settings.end() || found->second.empty() ? "nothing" : found->second;
    };
    compare(variable.c_str(), text(first), text(second));
  }
  return lines;
}

}  // namespace millrace::tools
