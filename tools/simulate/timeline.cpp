#include "tools/simulate/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace millrace::tools {
namespace {

using model::Doing;

const char* doing_name(Doing doing) {
  switch (doing) {
    case Doing::wait: return "waited for";
    case Doing::copy: return "copied, with";
    case Doing::reduce: return "reduced, with";
  }
  return "?";
}

const char* color(Doing doing) {
  return doing == Doing::wait ? "#d0d0d0" : doing == Doing::copy ? "#4c86c6" : "#d9822b";
}

// The rank that it waited for longest, or itself.
std::size_t longest(const model::Answer& answer, std::size_t rank) {
  std::vector<double> waited(answer.ranks.size());
  for (const model::Event& event : answer.ranks[rank].events)
    if (event.doing == Doing::wait) waited[event.other] += event.until_ns - event.from_ns;
  const auto most = std::max_element(waited.begin(), waited.end());
  return *most == 0 ? rank : static_cast<std::size_t>(most - waited.begin());
}

std::string escaped(const std::string& text) {
  std::string all;
  for (const char letter : text) all += letter == '<' ? "&lt;" : letter == '&' ? "&amp;" : std::string(1, letter);
  return all;
}

}  // namespace

std::string timeline_text(const model::Answer& answer, bool all_events) {
  const double begin_ns = answer.ranks.empty() ? 0 : answer.ranks[0].came_ns;
  std::string text =
      fmt::format("{:>5} {:>12} {:>12} {:>12}  {}\n", "rank", "came ns", "waited ns", "left ns", "waited most for");
  for (std::size_t rank = 0; rank < answer.ranks.size(); ++rank) {
    const model::Timeline& line = answer.ranks[rank];
    const std::size_t most = longest(answer, rank);
    text += fmt::format("{:5} {:12.0f} {:12.0f} {:12.0f}  {}\n", rank, line.came_ns - begin_ns, line.waited_ns,
                        line.left_ns - begin_ns, most == rank ? "nobody" : fmt::format("rank {}", most));
    if (!all_events) continue;
    for (const model::Event& event : line.events)
      text +=
          fmt::format("      {:12.0f} to {:.0f}: {} {}\n", event.from_ns - begin_ns, event.until_ns - begin_ns,
                      doing_name(event.doing), event.other == rank ? "itself" : fmt::format("rank {}", event.other));
  }
  return text;
}

std::string timeline_svg(const model::Answer& answer, const std::string& title) {
  constexpr double left = 50, width = 1100, row = 14, top = 50;
  double begin_ns = 0, end_ns = 1;
  if (!answer.ranks.empty()) begin_ns = end_ns = answer.ranks[0].came_ns;
  for (const model::Timeline& line : answer.ranks) end_ns = std::max(end_ns, line.left_ns);
  const double scale = width / std::max(1.0, end_ns - begin_ns);
  const auto x = [&](double time_ns) { return left + (time_ns - begin_ns) * scale; };
  const double height = top + row * static_cast<double>(answer.ranks.size()) + 20;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"10\">\n<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"white\"/>\n"
      "<text x=\"{2:.0f}\" y=\"16\" font-size=\"13\">{3}</text>\n",
      left + width + 30, height, left, escaped(title));
  double key = left;
  for (const auto& [doing, name] :
       {std::pair{Doing::wait, "waits"}, {Doing::copy, "copies"}, {Doing::reduce, "reduces"}}) {
    text += fmt::format(
        "<rect x=\"{:.0f}\" y=\"24\" width=\"10\" height=\"10\" fill=\"{}\"/><text x=\"{:.0f}\" y=\"33\">{}</text>\n",
        key, color(doing), key + 14, name);
    key += 80;
  }
  text += fmt::format("<text x=\"{:.0f}\" y=\"33\">0 to {:.0f} ns</text>\n", key, end_ns - begin_ns);
  for (std::size_t rank = 0; rank < answer.ranks.size(); ++rank) {
    const double y = top + row * static_cast<double>(rank);
    text += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 6, y + 9, rank);
    for (const model::Event& event : answer.ranks[rank].events)
      text += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"10\" fill=\"{}\"><title>rank {} {} rank {}, "
          "{:.0f} "
          "ns</title></rect>\n",
          x(event.from_ns), y, (event.until_ns - event.from_ns) * scale, color(event.doing), rank,
          doing_name(event.doing), event.other, event.until_ns - event.from_ns);
  }
  return text + "</svg>\n";
}

}  // namespace millrace::tools
