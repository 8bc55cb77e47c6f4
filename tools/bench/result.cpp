#include "tools/bench/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "record/units.h"
#include "tools/bench/rank/rank.h"

namespace millrace::tools {
namespace {

using nlohmann::ordered_json;

BenchPoint* find(std::vector<BenchPoint>& points, const BenchPoint& like) {
  const auto found = std::ranges::find_if(points, [&](const BenchPoint& point) {
    return point.kind == like.kind && point.mode == like.mode && point.name == like.name && point.bytes == like.bytes;
  });
  return found == points.end() ? nullptr : &*found;
}

void read_point(std::istringstream& words, BenchResult& result) {
  BenchPoint point;
  int look = 0;
  if (!(words >> look >> point.kind >> point.mode >> point.name >> point.bytes)) return;
  ++result.seen;
  std::vector<BenchTimes> turns;
  for (std::string word; words >> word;) {
    char* middle = nullptr;
    const double ours_us = std::strtod(word.c_str(), &middle);
    if (*middle == ':') turns.push_back({ours_us, std::strtod(middle + 1, nullptr)});
  }
  BenchPoint* const known = find(result.points, point);
  if (look == 1 && !known) {
    point.first = std::move(turns);
    result.points.push_back(std::move(point));
  } else if (look == 2 && known) {
    known->second = std::move(turns);
  }
}

ordered_json interval_json(const Interval& interval) {
  return {
      {"median", interval.median}, {"low", interval.low}, {"high", interval.high}, {"confidence", interval.confidence}};
}

const char* speed_word(const BenchPoint& point) {
  if (!point.is_measured()) return "not_measured";
  switch (point.verdict.speed) {
    case Speed::faster: return "faster";
    case Speed::slower: return "slower";
    case Speed::no_difference: return "no_difference";
    case Speed::too_few_runs: break;
  }
  return "too_few_turns";
}

}  // namespace

std::size_t BenchResult::count(Speed speed) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      points, [&](const BenchPoint& point) { return point.is_measured() && point.verdict.speed == speed; }));
}

std::size_t BenchResult::left_out() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(points, [](const auto& point) { return !point.is_measured(); }));
}

BenchVerdict final_verdict(const BenchPoint& point) {
  BenchVerdict verdict = judge_turns(point.first);
  if (verdict.speed != Speed::slower) return verdict;
  if (point.second.empty()) {
    verdict.speed = Speed::too_few_runs;
    return verdict;
  }
  verdict = judge_turns(point.second);
  // Slower once and faster once is neither.
  if (verdict.speed == Speed::faster) verdict.speed = Speed::no_difference;
  return verdict;
}

BenchResult read_bench(const std::string& output) {
  BenchResult result;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find(bench_mark);  // launchers may put the rank's number in front
    if (start == std::string::npos) continue;
    std::istringstream words(line.substr(start + std::string_view(bench_mark).size()));
    std::string key;
    words >> key >> std::ws;
    if (key == "host" || key == "complaint") {
      std::getline(words, key == "host" ? result.host : result.complaint);
    } else if (key == "ranks") {
      words >> result.ranks;
    } else if (key == "nodes") {
      words >> result.nodes;
    } else if (key == "points") {
      words >> result.expected;
      result.seen = 0;
    } else if (key == "point") {
      read_point(words, result);
    } else if (key == "done") {
      result.is_complete = true;
    }
  }
  for (BenchPoint& point : result.points)
    if (point.is_measured()) point.verdict = final_verdict(point);
  return result;
}

std::string kind_in_words(const std::string& kind) {
  return kind == "reduce_local" ? "reductions" : kind == "pack" ? "packing" : kind;
}

std::string point_in_words(const BenchPoint& point) {
  const std::string bytes = point.bytes == 0 ? "0 B" : record::scaled_bytes(point.bytes);
  std::string what;
  if (point.kind == "reduce_local")
    what = "MPI_Reduce_local " + point.name;
  else if (point.kind == "pack")
    what = (point.name.starts_with("un") ? "MPI_Unpack " : "MPI_Pack ") + point.name.substr(point.name.find('_') + 1);
  else if (point.kind == "messages")
    what = "messages " + point.name;
  else
    what = "MPI_" + point.name;
  return fmt::format("{}, {}, {}", what, bytes, point.mode);
}

std::string as_csv(const BenchResult& result) {
  std::string text = "kind,mode,name,bytes,look,turn,ours_us,host_us\n";
  for (const BenchPoint& point : result.points) {
    int look = 1;
    for (const auto* turns : {&point.first, &point.second}) {
      int number = 1;
      for (const BenchTimes& turn : *turns)
        text += fmt::format("{},{},{},{},{},{},{:.5f},{:.5f}\n", kind_in_words(point.kind), point.mode, point.name,
                            point.bytes, look, number++, turn.ours_us, turn.host_us);
      ++look;
    }
  }
  return text;
}

std::string as_json(const BenchResult& result) {
  ordered_json points = ordered_json::array();
  for (const BenchPoint& point : result.points) {
    ordered_json item = {{"kind", kind_in_words(point.kind)},
                         {"mode", point.mode},
                         {"name", point.name},
                         {"bytes", point.bytes},
                         {"verdict", speed_word(point)}};
    if (point.is_measured()) {
      item["times_as_fast"] = interval_json(point.verdict.ratio);
      item["ours_us"] = interval_json(point.verdict.ours);
      item["host_us"] = interval_json(point.verdict.host);
      item["turns"] = point.second.empty() ? point.first.size() : point.second.size();
      item["looks"] = point.second.empty() ? 1 : 2;
    }
    points.push_back(std::move(item));
  }
  const ordered_json document = {{"schema", "millrace-bench"},   {"schema_version", 1},
                                 {"millrace", MILLRACE_VERSION}, {"command", result.command},
                                 {"machine", result.machine},    {"host_mpi", result.host},
                                 {"ranks", result.ranks},        {"nodes", result.nodes},
                                 {"warnings", result.warnings},  {"points", points}};
  // Words of a command need not be UTF-8.
  return document.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace millrace::tools
