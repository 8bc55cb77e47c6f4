// The page of `millrace compare`.
#include <fmt/format.h>

#include <algorithm>

#include "tools/compare/result.h"
#include "tools/page.h"

namespace millrace::tools {
namespace {

// Every run a dot, the median a line, its interval a bar; from nothing to the longest run, so that lengths are true.
class Chart {
 public:
  explicit Chart(double longest) : longest_(longest > 0 ? longest : 1) {}

  void row(const char* name, const char* title, const std::vector<double>& seconds, const Interval& interval) {
    const double middle = 28 + 48 * rows_++;
    svg_ += fmt::format("<text x=\"0\" y=\"{:.0f}\">{}</text>", middle + 4, title);
    svg_ += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"16\" fill-opacity=\".2\" "
        "stroke=\"none\"/>",
        name, place(interval.low), middle - 8, std::max(1.0, place(interval.high) - place(interval.low)));
    svg_ += fmt::format(
        "<line class=\"{0}\" x1=\"{1:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.0f}\" y2=\"{3:.0f}\" stroke-width=\"2\"/>", name,
        place(interval.median), middle - 12, middle + 12);
    for (const double run : seconds)
      svg_ += fmt::format(
          "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.0f}\" r=\"4\" fill-opacity=\".6\"><title>{:.4f} s"
          "</title></circle>",
          name, place(run), middle, run);
  }

  std::string text() const {
    const double bottom = 48.0 * rows_ + 8;
    return fmt::format(
        "<svg viewBox=\"0 0 720 {0:.0f}\" role=\"img\" aria-label=\"time of each run\">{1}"
        "<line class=\"axis\" x1=\"{2:.0f}\" x2=\"710\" y1=\"{3:.0f}\" y2=\"{3:.0f}\"/>"
        "<text x=\"{2:.0f}\" y=\"{4:.0f}\">0</text>"
        "<text x=\"710\" y=\"{4:.0f}\" text-anchor=\"end\">{5:.3g} s</text></svg>\n",
        bottom + 22, svg_, left, bottom, bottom + 16, longest_);
  }

 private:
  static constexpr double left = 130, width = 580;
  double place(double seconds) const { return left + width * seconds / longest_; }
  double longest_;
  int rows_ = 0;
  std::string svg_;
};

std::string block(const std::vector<std::string>& lines) {
  std::string text = "<p>" + escaped(lines.front()) + "</p>\n";
  if (lines.size() < 2) return text;
  text += "<pre>";
  for (std::size_t i = 1; i < lines.size(); ++i) text += escaped(lines[i]) + '\n';
  return text + "</pre>\n";
}

}  // namespace

std::string as_html(const CompareResult& result) {
  std::string text = page_start("millrace compare");
  text += fmt::format("<h1>{}</h1>\n<p><code>{}</code></p>\n<p class=\"faint\">", escaped(speed_in_words(result.speed)),
                      escaped(result.command));
  if (!result.host.empty()) text += fmt::format("{}, {} ranks; ", escaped(result.host), result.ranks);
  text += escaped(result.machine) + "</p>\n";
  for (const std::string& warning : result.warnings)
    text += fmt::format("<p class=\"alarm\">{}</p>\n", escaped(warning));
  double longest = 0;
  for (const std::vector<double>* side : {&result.without_seconds, &result.with_seconds})
    for (const double seconds : *side) longest = std::max(longest, seconds);
  Chart chart(longest);
  chart.row("without", "without Millrace", result.without_seconds, result.speed.without);
  chart.row("with", "with Millrace", result.with_seconds, result.speed.with);
  text += "<h2>Time</h2>\n" + chart.text();
  text += "<table><tr><th></th><th>median (interval)</th><th>runs</th></tr>\n";
  text += fmt::format("<tr><td>without Millrace</td><td>{}</td><td>{}</td></tr>\n",
                      interval_in_words(result.speed.without), result.without_seconds.size());
  text += fmt::format("<tr><td>with Millrace</td><td>{}</td><td>{}</td></tr></table>\n",
                      interval_in_words(result.speed.with), result.with_seconds.size());
  text += fmt::format("<p class=\"faint\">The interval holds the median of all such runs with {:.1f} %.</p>\n",
                      100 * result.speed.with.confidence);
  text += "<h2>Output</h2>\n" + block(output_in_words(result.output));
  text += fmt::format("<h2>Exit codes</h2>\n<p>{}</p>\n", escaped(exit_codes_in_words(result)));
  text +=
      "<h2>What calls saved</h2>\n<p class=\"faint\">All ranks together, in one run more, which wrote a "
      "report.</p><ul>\n";
  for (const std::string& line : calls_in_words(result)) text += fmt::format("<li>{}</li>\n", escaped(line));
  return text + "</ul>\n" + page_end;
}

}  // namespace millrace::tools
