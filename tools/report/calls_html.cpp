// The tables of calls of the page.
#include <fmt/format.h>

#include <algorithm>

#include "record/units.h"
#include "tools/page.h"
#include "tools/report/shown.h"
#include "tools/report/versus.h"

namespace millrace::tools {
namespace {

using record::scaled_bytes;
using record::scaled_count;
using record::scaled_time;

std::string bar(double share, const char* side = "a") {
  return fmt::format("<span class=\"bar\"><span class=\"{}\" style=\"width:{:.1f}%\"></span></span>", side,
                     100 * std::clamp(share, 0.0, 1.0));
}

// From the least to the greatest rank, on the scale of the longest, the median a line.
std::string range(const RunSpread& spread, double longest_ns) {
  constexpr double width = 120;
  const auto place = [&](double time_ns) { return longest_ns > 0 ? width * time_ns / longest_ns : 0; };
  return fmt::format(
      "<svg style=\"width:6rem;height:.9rem\" viewBox=\"0 0 {0:.0f} 14\" preserveAspectRatio=\"none\" role=\"img\">"
      "<title>{6} to {7}, median {8}</title><rect class=\"track\" x=\"0\" y=\"6\" width=\"{0:.0f}\" height=\"2\"/>"
      "<rect class=\"with\" x=\"{1:.1f}\" y=\"{2}\" width=\"{3:.1f}\" height=\"8\" fill-opacity=\".35\" "
      "stroke=\"none\"/>"
      "<line class=\"with\" x1=\"{4:.1f}\" x2=\"{4:.1f}\" y1=\"0\" y2=\"{5}\" stroke-width=\"2\"/></svg>",
      width, place(spread.min), 3, std::max(1.5, place(spread.max) - place(spread.min)),
      std::clamp(place(spread.median), 1.0, width - 1), 14, scaled_time(spread.min), scaled_time(spread.max),
      scaled_time(spread.median));
}

std::string figure(const std::string& text) { return fmt::format("<td class=\"figure\">{}</td>", text); }
std::string heading(const char* text) { return fmt::format("<th class=\"figure\">{}</th>", text); }

std::string per_call(const RunCall& call) {
  return call.calls == 0 ? "-" : scaled_time(call.time_ns / static_cast<double>(call.calls));
}

bool is_outside(const CallPair& pair) { return (pair.first ? pair.first : pair.second)->is_outside; }

// A red or green of its own would be lost on some readers; the sign says it.
std::string versus_row(const CallPair& pair, const Run& first, const Run& second, double longest_ns) {
  const double a_ns = mean_rank_ns(first, pair.first), b_ns = mean_rank_ns(second, pair.second);
  const auto count = [](const RunCall* call) { return call ? scaled_count(call->calls) : "-"; };
  const auto time = [](const RunCall* call, double time_ns) { return call ? scaled_time(time_ns) : "-"; };
  const auto taken = [](const RunCall* call) { return call ? taken_in_words(*call) : "-"; };
  const double longest = std::max(longest_ns, 1.0);
  const bool bars = !is_outside(pair);
  return fmt::format("<tr><td>{}</td>{}{}{}{}{}<td>{}{}</td>{}{}</tr>\n", escaped(pair.name), figure(count(pair.first)),
                     figure(count(pair.second)), figure(time(pair.first, a_ns)), figure(time(pair.second, b_ns)),
                     figure(change_in_words(a_ns, b_ns)), bars ? bar(a_ns / longest) : "",
                     bars ? bar(b_ns / longest, "b") : "", figure(taken(pair.first)), figure(taken(pair.second)));
}

}  // namespace

std::string calls_part(const Run& run) {
  double longest_ns = 0, slowest_ns = 0;
  for (const RunCall& call : run.calls) {
    if (call.is_outside) continue;
    longest_ns = std::max(longest_ns, call.time_ns);
    slowest_ns = std::max(slowest_ns, call.rank_time_ns.max);
  }
  std::string text = "<div class=\"wide\"><table class=\"calls\">\n<tr><th>call</th>" + heading("calls") +
                     heading("bytes") + heading("time, all") + "<th>ranks</th><th>in a rank</th>" + heading("most") +
                     heading("at rank") + heading("per call") + heading("taken") + "</tr>\n";
  for (const RunCall& call : run.calls) {
    const std::vector<std::string> details = details_of(call);
    text += fmt::format(
        "<tr{}><td>{}</td>{}{}{}<td>{}</td><td>{}</td>{}{}{}{}</tr>\n", details.empty() ? "" : " class=\"named\"",
        escaped(call.name), figure(scaled_count(call.calls)), figure(scaled_bytes(call.bytes)),
        figure(scaled_time(call.time_ns)), call.is_outside ? "" : bar(longest_ns > 0 ? call.time_ns / longest_ns : 0),
        call.is_outside ? "outside" : range(call.rank_time_ns, slowest_ns), figure(scaled_time(call.rank_time_ns.max)),
        figure(std::to_string(call.rank_time_ns.max_rank)), figure(per_call(call)), figure(taken_in_words(call)));
    if (details.empty()) continue;
    text += "<tr class=\"more\"><td colspan=\"10\">" + sizes_strip(call.sizes);
    for (std::size_t index = 0; index < details.size(); ++index)
      text += (index > 0 ? "<br>" : "") + escaped(details[index]);
    text += "</td></tr>\n";
  }
  text += fmt::format("<tr><td><b>total</b></td>{}{}{}<td></td><td></td><td></td><td></td>{}{}</tr>\n",
                      figure(scaled_count(run.total.calls)), figure(scaled_bytes(run.total.bytes)),
                      figure(scaled_time(run.total.time_ns)), figure(per_call(run.total)),
                      figure(taken_in_words(run.total)));
  return text + "</table></div>\n";
}

std::string versus_part(const Run& first, const Run& second) {
  const std::vector<CallPair> pairs = pair_calls(first, second);
  double longest_ns = 0;
  for (const CallPair& pair : pairs)
    if (!is_outside(pair))
      longest_ns = std::max({longest_ns, mean_rank_ns(first, pair.first), mean_rank_ns(second, pair.second)});
  std::string text =
      "<p class=\"faint\">Time is the mean of a rank. <span class=\"swatch\" style=\"background:var(--with)\"></span>A "
      "<span class=\"swatch\" style=\"background:var(--without)\"></span>B</p>\n<div class=\"wide\"><table "
      "class=\"versus\">\n<tr><th>call</th>" +
      heading("calls A") + heading("B") + heading("time A") + heading("B") + heading("change") + "<th></th>" +
      heading("taken A") + heading("B") + "</tr>\n";
  for (const CallPair& pair : pairs) text += versus_row(pair, first, second, longest_ns);
  text += versus_row({"total", &first.total, &second.total}, first, second,
                     std::max(mean_rank_ns(first, &first.total), mean_rank_ns(second, &second.total)));
  return text + "</table></div>\n";
}

}  // namespace millrace::tools
