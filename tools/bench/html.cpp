// The page of `millrace bench`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "record/units.h"
#include "tools/bench/result.h"
#include "tools/page.h"

namespace millrace::tools {
namespace {

constexpr const char* style = R"(
.faster { fill: var(--with); stroke: var(--with); } .same { fill: var(--faint); stroke: var(--faint); }
.slower { fill: var(--alarm); stroke: var(--alarm); } .grid { stroke: var(--line); stroke-dasharray: 2 3; }
td.number, th.number { text-align: right; } summary { cursor: pointer; margin-top: 1rem; }
)";

const char* class_of(Speed speed) {
  return speed == Speed::faster ? "faster" : speed == Speed::slower ? "slower" : "same";
}

// A row for each group, a dot for each of its points at the ratio host / ours on a scale of doublings, its interval a
// line. To the right of 1 Millrace is faster.
class Chart {
 public:
  explicit Chart(const std::vector<const BenchPoint*>& points) {
    for (const BenchPoint* point : points) {
      low_ = std::min(low_, std::floor(doublings(point->verdict.ratio.low)));
      high_ = std::max(high_, std::ceil(doublings(point->verdict.ratio.high)));
      const std::string group = group_of(*point);
      if (!rows_.contains(group)) {
        const double y = 20 + row_height * static_cast<double>(rows_.size());
        rows_[group] = y;
        svg_ += fmt::format("<text x=\"0\" y=\"{:.0f}\">{}</text>", y + 4, escaped(group));
      }
    }
    for (const BenchPoint* point : points) add(*point);
  }

  std::string text() const {
    const double bottom = 20 + row_height * static_cast<double>(rows_.size());
    std::string lines;
    const int step = high_ - low_ > most_labels ? 2 : 1;  // 1 is among them
    for (int doubling = static_cast<int>(low_); doubling <= static_cast<int>(high_); ++doubling) {
      const double x = left + scale() * (doubling - low_);
      lines += fmt::format("<line class=\"{0}\" x1=\"{1:.1f}\" x2=\"{1:.1f}\" y1=\"8\" y2=\"{2:.0f}\"/>",
                           doubling == 0 ? "axis" : "grid", x, bottom - 6);
      if (doubling % step == 0)
        lines += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>", x, bottom + 8,
                             ratio_text(doubling));
    }
    return fmt::format("<svg viewBox=\"0 0 720 {:.0f}\" role=\"img\" aria-label=\"times as fast\">{}{}</svg>\n",
                       bottom + 14, lines, svg_);
  }

 private:
  static constexpr double left = 180, width = 520, row_height = 20, most_labels = 9;
  static std::string ratio_text(double doubling) {
    return doubling < 0 ? fmt::format("1/{:.0f}", std::exp2(-doubling)) : fmt::format("{:.0f}", std::exp2(doubling));
  }
  static double doublings(double ratio) { return std::clamp(std::log2(std::max(ratio, 1e-9)), -5.0, 8.0); }
  double scale() const { return width / (high_ - low_); }
  double place(double ratio) const { return left + scale() * (doublings(ratio) - low_); }

  void add(const BenchPoint& point) {
    const BenchVerdict& verdict = point.verdict;
    const double y = rows_[group_of(point)];
    svg_ += fmt::format(
        "<g class=\"{0}\"><title>{1}: {2:.2f} ({3:.2f} to {4:.2f})</title>"
        "<line x1=\"{5:.1f}\" x2=\"{6:.1f}\" y1=\"{8:.0f}\" y2=\"{8:.0f}\" stroke-opacity=\".5\"/>"
        "<circle cx=\"{7:.1f}\" cy=\"{8:.0f}\" r=\"3.5\" fill-opacity=\".65\" stroke=\"none\"/></g>",
        class_of(verdict.speed), escaped(point_in_words(point)), verdict.ratio.median, verdict.ratio.low,
        verdict.ratio.high, place(verdict.ratio.low), place(verdict.ratio.high), place(verdict.ratio.median), y);
  }

  double low_ = -1, high_ = 1;
  std::map<std::string, double> rows_;
  std::string svg_;
};

std::string points_table(const std::vector<const BenchPoint*>& points) {
  std::string text =
      "<details><summary>all points</summary><table><tr><th>what</th><th class=\"number\">times as fast</th>"
      "<th>interval</th><th class=\"number\">host</th><th class=\"number\">Millrace</th></tr>\n";
  for (const BenchPoint* point : points) {
    const BenchVerdict& verdict = point->verdict;
    text += fmt::format(
        "<tr{}><td>{}</td><td class=\"number\">{:.2f}</td><td>{:.2f} to {:.2f}</td><td class=\"number\">{}</td>"
        "<td class=\"number\">{}</td></tr>\n",
        verdict.speed == Speed::slower ? " class=\"alarm\"" : "", escaped(point_in_words(*point)), verdict.ratio.median,
        verdict.ratio.low, verdict.ratio.high, record::scaled_time(verdict.host.median * 1e3),
        record::scaled_time(verdict.ours.median * 1e3));
  }
  return text + "</table></details>\n";
}

}  // namespace

std::string as_html(const BenchResult& result) {
  std::string text = page_start("millrace bench", style);
  text += fmt::format("<h1>{}</h1>\n<p><code>{}</code></p>\n<p class=\"faint\">{}; {} ranks on {} node{}; {}</p>\n",
                      escaped(verdict_in_words(result)), escaped(result.command), escaped(result.host), result.ranks,
                      result.nodes, result.nodes == 1 ? "" : "s", escaped(result.machine));
  for (const std::string& warning : result.warnings)
    text += fmt::format("<p class=\"alarm\">{}</p>\n", escaped(warning));
  text +=
      "<p>Each dot is a call of one size; how many times as fast as the host's own it is: the median of turns, and "
      "its interval as a line. To the right of 1 Millrace is faster. Red: surely slower.</p>\n";
  std::vector<std::pair<std::string, std::string>> sections;
  std::map<std::pair<std::string, std::string>, std::vector<const BenchPoint*>> points;
  for (const BenchPoint& point : result.points) {
    if (!point.is_measured()) continue;
    const std::pair section(point.kind, point.mode);
    if (!points.contains(section)) sections.push_back(section);
    points[section].push_back(&point);
  }
  for (const auto& section : sections) {
    text += fmt::format("<h2>{}, {}</h2>\n", kind_in_words(section.first), section.second);
    text += Chart(points[section]).text() + points_table(points[section]);
  }
  return text + page_end;
}

}  // namespace millrace::tools
