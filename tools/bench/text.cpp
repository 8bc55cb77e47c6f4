// The verdict of `millrace bench` on a terminal of 80 columns.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "record/units.h"
#include "tools/bench/result.h"
#include "tools/doctor/shown.h"

namespace millrace::tools {
namespace {

constexpr std::array<const char*, 3> modes{"hot", "cold", "apart"};
constexpr std::size_t most_shown = 12;

std::string time_text(double us) { return record::scaled_time(us * 1e3); }

// What the points of a cell have in common: the median, the least and the most of their ratios.
std::string cell(std::vector<double> ratios) {
  if (ratios.empty()) return "";
  std::ranges::sort(ratios);
  const std::size_t n = ratios.size();
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", (ratios[(n - 1) / 2] + ratios[n / 2]) / 2, ratios.front(),
                     ratios.back());
}

// Rows in the order in which they were measured.
std::string table(const BenchResult& result) {
  std::vector<std::pair<std::string, std::string>> rows;  // kind and group
  struct Cell {
    bool was_planned = false;
    std::vector<double> ratios;
  };
  std::map<std::pair<std::string, std::string>, std::array<Cell, 3>> cells;
  for (const BenchPoint& point : result.points) {
    const std::pair row(point.kind, group_of(point));
    if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
    for (std::size_t mode = 0; mode < modes.size(); ++mode) {
      if (point.mode != modes[mode]) continue;
      cells[row][mode].was_planned = true;
      if (point.is_measured()) cells[row][mode].ratios.push_back(point.verdict.ratio.median);
    }
  }
  std::string text, kind;
  for (const auto& row : rows) {
    if (row.first != kind) {
      kind = row.first;
      text += fmt::format("\n{:<29}{:<17}{:<17}{}\n", kind_in_words(kind), modes[0], modes[1], modes[2]);
    }
    std::array<std::string, 3> texts;
    std::ranges::transform(cells[row], texts.begin(), [](const Cell& each) {
      return each.was_planned && each.ratios.empty() ? "-" : cell(each.ratios);
    });
    std::string line = fmt::format("  {:<27}{:<17}{:<17}{}", row.second.substr(0, 26), texts[0], texts[1], texts[2]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string point_line(const BenchPoint& point) {
  const BenchVerdict& verdict = point.verdict;
  return fmt::format("  {}\n    {:.2f} ({:.2f}-{:.2f}): host {}, Millrace {}\n", point_in_words(point),
                     verdict.ratio.median, verdict.ratio.low, verdict.ratio.high, time_text(verdict.host.median),
                     time_text(verdict.ours.median));
}

std::string slower_points(const BenchResult& result) {
  std::vector<const BenchPoint*> slower;
  for (const BenchPoint& point : result.points)
    if (point.is_measured() && point.verdict.speed == Speed::slower) slower.push_back(&point);
  if (slower.empty()) return "";
  std::ranges::sort(slower, {}, [](const BenchPoint* point) { return point->verdict.ratio.median; });
  std::string text = "\nslower, the median of turns and its interval, the worst first:\n";
  for (std::size_t i = 0; i < std::min(slower.size(), most_shown); ++i) text += point_line(*slower[i]);
  if (slower.size() > most_shown) text += fmt::format("  and {} more: --all, --csv\n", slower.size() - most_shown);
  return text;
}

}  // namespace

// Reductions by type, the others by what is measured.
std::string group_of(const BenchPoint& point) {
  if (point.kind != "reduce_local") return point.name;
  return point.name.substr(point.name.find('_') + 1);
}

std::string verdict_in_words(const BenchResult& result) {
  const std::size_t slower = result.count(Speed::slower), faster = result.count(Speed::faster),
                    same = result.count(Speed::no_difference), unsure = result.count(Speed::too_few_runs);
  const std::size_t measured = result.points.size() - result.left_out();
  std::string text = slower != 0 ? fmt::format("{} of {} are surely slower with Millrace", slower, measured)
                     : result.left_out() == 0 ? "nothing is surely slower with Millrace"
                                              : fmt::format("none of {} is surely slower with Millrace", measured);
  text += fmt::format("; faster {}, no difference {}", faster, same);
  if (unsure != 0) text += fmt::format(", not clear {}", unsure);
  if (result.left_out() != 0) text += fmt::format(", not measured for want of time {}", result.left_out());
  return text;
}

std::string as_text(const BenchResult& result, bool with_all_points) {
  std::string text = wrapped("", result.command);
  text += fmt::format("{}\n{} rank{} on {} node{}; {}\n", result.host.substr(0, 79), result.ranks,
                      result.ranks == 1 ? "" : "s", result.nodes, result.nodes == 1 ? "" : "s",
                      result.machine.substr(0, 50));
  text += "\ntimes as fast as the host's own: the median over sizes (the least-the most)\n";
  text += table(result);
  if (with_all_points) {
    text += "\nall points: the median of turns (its interval)\n";
    for (const BenchPoint& point : result.points)
      if (point.is_measured()) text += point_line(point);
  }
  text += slower_points(result);
  std::string verdict = verdict_in_words(result);
  verdict.replace(verdict.find("; "), 2, ";\n");
  text += '\n' + verdict + '\n';
  for (const std::string& warning : result.warnings) text += wrapped("warning: ", warning);
  return text;
}

}  // namespace millrace::tools
