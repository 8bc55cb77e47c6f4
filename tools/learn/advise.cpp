#include "tools/learn/advise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/log.h"
#include "tools/command_line.h"
#include "tools/executables.h"
#include "tools/learn/host_settings.h"
#include "tools/learn/launched.h"

namespace millrace::tools {
namespace {

constexpr std::size_t most_settings = 12;
constexpr double worth_saying = 0.03;  // of the time: less is not worth a setting
constexpr double share_of_a_call = 0.05;

// A directory of our own for reports, gone at the end.
class ReportPlace {
 public:
  ReportPlace() {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "millrace-advise-XXXXXX").string();
    if (!error && mkdtemp(path.data())) path_ = path;
  }
  ~ReportPlace() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  ReportPlace(const ReportPlace&) = delete;
  ReportPlace& operator=(const ReportPlace&) = delete;
  bool made() const { return !path_.empty(); }
  std::string report() const { return path_ + "/report.json"; }
  void clear() const {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path_, error))
      std::filesystem::remove_all(entry.path(), error);
  }
  // All that one run wrote: a file for each node.
  std::vector<nlohmann::json> read() const {
    std::vector<nlohmann::json> reports;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path_, error)) {
      std::ifstream file(entry.path());
      nlohmann::json report = nlohmann::json::parse(file, nullptr, false);
      if (report.is_object() && report.value("schema", "") == "millrace-report") reports.push_back(std::move(report));
    }
    return reports;
  }

 private:
  std::string path_;
};

struct Ran {
  int exit_code = 0;
  std::string host;
  std::optional<RunTimes> times;
};

RunTimes times_of(const std::vector<nlohmann::json>& reports) {
  RunTimes times;
  for (const nlohmann::json& report : reports) {
    times.wall_ns = std::max(times.wall_ns, report["wall_ns"].value("max", std::uint64_t{0}));
    for (const nlohmann::json& rank : report["by_rank"]) times.mpi_ns += rank.value("mpi_ns", std::uint64_t{0});
    for (const nlohmann::json& call : report["calls"]) {
      const std::string name = call.value("name", "");
      // In neither of the times above.
      if (!name.starts_with("MPI_Init") && name != "MPI_Finalize")
        times.calls[name] += call.value("time_ns", std::uint64_t{0});
    }
  }
  return times;
}

Ran run_with(const std::vector<std::string>& words, const std::vector<std::string>& settings, const ReportPlace& place,
             bool silent) {
  std::vector<std::string> before;
  if (!settings.empty()) {
    before.emplace_back("env");  // for every rank, whatever the launcher does with its own environment
    before.insert(before.end(), settings.begin(), settings.end());
  }
  before.push_back(own_path());
  before.push_back("--report=" + place.report());
  std::vector<std::string> command = in_front_of_programs(words, before);
  place.clear();
  Ran ran;
  ran.exit_code = run_to_end(command, silent);
  try {
    const std::vector<nlohmann::json> reports = place.read();
    if (ran.exit_code != 0 || reports.empty()) return ran;
    ran.host = reports.front()["by_rank"].at(0).value("host_mpi", "");
    ran.times = times_of(reports);
  } catch (const nlohmann::json::exception&) {
    ran.times.reset();
  }
  return ran;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

template <class Value>
std::vector<double> each(const std::vector<RunTimes>& runs, Value value) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const RunTimes& run : runs) values.push_back(static_cast<double>(value(run)));
  return values;
}

std::uint64_t wall_of(const RunTimes& run) { return run.wall_ns; }
std::uint64_t mpi_of(const RunTimes& run) { return run.mpi_ns; }

std::string joined(const std::vector<std::string>& setting) { return fmt::format("{}", fmt::join(setting, " ")); }

struct Candidate {
  std::vector<std::string> setting;
  std::vector<RunTimes> runs;
  bool failed = false;
};

void print_advice(const std::vector<RunTimes>& without, const std::vector<Candidate>& candidates) {
  const std::vector<double> walls = each(without, wall_of);
  const auto [least, most] = std::minmax_element(walls.begin(), walls.end());
  std::printf("as it is: %.3f s (%.3f to %.3f), %.3f s inside MPI in all ranks; %zu runs each, in turns\n",
              median(walls) / 1e9, *least / 1e9, *most / 1e9, median(each(without, mpi_of)) / 1e9, without.size());
  std::printf("%8s %8s  %-28s %s\n", "time", "in MPI", "most changed", "setting");
  std::vector<std::string> helps;
  for (const Candidate& candidate : candidates) {
    if (candidate.failed || candidate.runs.empty()) {
      std::printf("%8s %8s  %-28s %s\n", "failed", "", "", joined(candidate.setting).c_str());
      continue;
    }
    const Verdict verdict = judge(without, candidate.runs);
    const std::string call = verdict.call.empty() ? "-" : fmt::format("{} {:.2f}", verdict.call, verdict.call_ratio);
    std::printf("%8.3f %8.3f  %-28s %s%s\n", verdict.wall_ratio, verdict.mpi_ratio, call.c_str(),
                joined(candidate.setting).c_str(),
                verdict.slower   ? "   (slower)"
                : verdict.faster ? "   (faster)"
                                 : "");
    if (verdict.faster) helps.push_back(joined(candidate.setting));
  }
  if (helps.empty()) {
    std::printf("no setting made the program faster beyond noise\n");
    return;
  }
  std::printf("faster in every run:\n");
  for (const std::string& setting : helps) std::printf("    %s\n", setting.c_str());
  std::printf("The last bits of floating-point sums may change with the host's algorithms.\n");
}

}  // namespace

Verdict judge(const std::vector<RunTimes>& without, const std::vector<RunTimes>& with) {
  Verdict verdict;
  const std::vector<double> walls = each(without, wall_of), walls_with = each(with, wall_of);
  const auto ratio = [](double one, double other) { return other > 0 ? one / other : 1.0; };
  verdict.wall_ratio = ratio(median(walls_with), median(walls));
  verdict.mpi_ratio = ratio(median(each(with, mpi_of)), median(each(without, mpi_of)));
  const auto [least, most] = std::minmax_element(walls.begin(), walls.end());
  const auto [least_with, most_with] = std::minmax_element(walls_with.begin(), walls_with.end());
  verdict.faster = *most_with < *least && verdict.wall_ratio < 1 - worth_saying;
  verdict.slower = *least_with > *most && verdict.wall_ratio > 1 + worth_saying;
  double largest = 0;
  for (const auto& [name, time_ns] : without.front().calls) {
    const auto of_call = [&name = name](const RunTimes& run) {
      const auto found = run.calls.find(name);
      return found == run.calls.end() ? std::uint64_t{0} : found->second;
    };
    const double before = median(each(without, of_call)), after = median(each(with, of_call));
    if (std::abs(after - before) <= largest) continue;
    largest = std::abs(after - before);
    verdict.call = name;
    verdict.call_ratio = ratio(after, before);
  }
  return verdict;
}

std::vector<std::vector<std::string>> settings_worth_trying(const std::string& host, const RunTimes& run,
                                                            std::size_t most) {
  struct Found {
    std::uint64_t time_ns;
    const HostSetting* setting;
  };
  std::vector<Found> found;
  for (const HostSetting& setting : host_settings()) {
    if (!host.starts_with(setting.host)) continue;
    const auto call = run.calls.find(std::string(setting.call));
    const std::uint64_t time_ns = setting.call.empty() ? run.mpi_ns : call == run.calls.end() ? 0 : call->second;
    if (time_ns != 0 && static_cast<double>(time_ns) >= share_of_a_call * static_cast<double>(run.mpi_ns))
      found.push_back({time_ns, &setting});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& one, const Found& other) { return one.time_ns > other.time_ns; });
  if (found.size() > most) found.resize(most);
  std::vector<std::vector<std::string>> settings;
  settings.reserve(found.size());
  for (const Found& each : found) settings.emplace_back(each.setting->variables.begin(), each.setting->variables.end());
  return settings;
}

int advise_settings(const AdviceRequest& request) {
  if (in_front_of_programs(request.words, {own_path()}).empty()) {
    log(LogLevel::error, "learn: no program among the words after '--'; write 'millrace' in front of it");
    return usage_error;
  }
  std::vector<Candidate> candidates;
  candidates.reserve(request.settings.size());
  for (const std::string& setting : request.settings) candidates.push_back({{setting}, {}, false});
  if (request.only_shows) {
    for (const HostSetting& setting : host_settings())
      std::printf("%s%s%s: %s\n", std::string(setting.host).c_str(), setting.call.empty() ? "" : ", ",
                  std::string(setting.call).c_str(), fmt::format("{}", fmt::join(setting.variables, " ")).c_str());
    for (const Candidate& candidate : candidates) std::printf("%s\n", joined(candidate.setting).c_str());
    return 0;
  }
  const ReportPlace place;
  if (!place.made()) {
    log(LogLevel::error, "learn: no place for reports: set TMPDIR to a directory that can be written");
    return usage_error;
  }
  // The first run is seen by the user, and brings what a second one finds in caches: it is not counted.
  const Ran first = run_with(request.words, {}, place, false);
  if (stopped_by() != 0) return 128 + stopped_by();
  if (first.exit_code != 0) return first.exit_code;
  if (!first.times) {
    log(LogLevel::error, "learn: the program wrote no report: it did not come to MPI_Finalize, or makes no MPI calls");
    return usage_error;
  }
  for (std::vector<std::string>& setting : settings_worth_trying(first.host, *first.times, most_settings))
    candidates.push_back({std::move(setting), {}, false});
  const double runs = static_cast<double>(request.repeats) * static_cast<double>(candidates.size() + 1);
  std::fprintf(stderr, "millrace learn: %s; %zu settings, %d runs of each, about %.0f s\n", first.host.c_str(),
               candidates.size(), request.repeats, runs * static_cast<double>(first.times->wall_ns) / 1e9);
  std::vector<RunTimes> without;
  for (int repeat = 0; repeat < request.repeats; ++repeat) {
    if (const Ran run = run_with(request.words, {}, place, true); run.times) without.push_back(*run.times);
    if (stopped_by() != 0) return 128 + stopped_by();
    for (Candidate& candidate : candidates) {
      if (candidate.failed) continue;
      const Ran run = run_with(request.words, candidate.setting, place, true);
      if (stopped_by() != 0) return 128 + stopped_by();
      candidate.failed = !run.times;
      if (run.times) candidate.runs.push_back(*run.times);
    }
  }
  if (without.empty()) {
    log(LogLevel::error, "learn: the program ran once and then failed: nothing can be compared");
    return usage_error;
  }
  print_advice(without, candidates);
  return 0;
}

}  // namespace millrace::tools
