// For whom ranks waited: by rank, and by collective and communicator.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "record/units.h"
#include "tools/page.h"
#include "tools/report/shown.h"

namespace millrace::tools {
namespace {

using record::scaled_count;
using record::scaled_time;

std::string in_words(const RunLate& late) {
  return fmt::format("the others waited {} for rank {}, which came last in {} calls; it waited {} itself",
                     scaled_time(late.caused_ns), late.rank, scaled_count(late.calls), scaled_time(late.wait_ns));
}

std::string bars(const Run& run, double most_ns) {
  std::string text =
      "<div class=\"wide\"><table class=\"late\">\n<tr><th></th><th class=\"figure\">the others waited for "
      "it</th><th></th>"
      "<th class=\"figure\">came last in</th><th class=\"figure\">waited itself</th></tr>\n";
  for (const RunLate& late : run.late)
    text += fmt::format(
        "<tr><td>rank {}</td><td class=\"figure\">{}</td><td><span class=\"bar\"><span style=\"width:{:.1f}%\"></span>"
        "</span></td><td class=\"figure\">{}</td><td class=\"figure\">{}</td></tr>\n",
        late.rank, scaled_time(late.caused_ns), 100 * std::clamp(late.caused_ns / most_ns, 0.0, 1.0),
        scaled_count(late.calls), scaled_time(late.wait_ns));
  return text + "</table></div>\n";
}

std::string map(const Run& run, double most_ns) {
  std::map<std::uint64_t, const RunLate*> by_rank;
  for (const RunLate& late : run.late) by_rank[late.rank] = &late;
  const auto cell_of = [&](std::uint64_t rank) -> std::optional<RankCell> {
    if (const auto found = by_rank.find(rank); found != by_rank.end())
      return RankCell{found->second->caused_ns / most_ns, in_words(*found->second)};
    if (!run.by_rank.contains(rank)) return std::nullopt;
    return RankCell{0, fmt::format("rank {}: nothing is known of it", rank)};
  };
  std::string text = rank_map(run, "time that the others waited for each rank",
                              scaled_time(most_ns) + " that the others waited for a rank", cell_of);
  constexpr std::size_t most = 5;
  for (std::size_t index = 0; index < std::min(most, run.late.size()); ++index)
    if (run.late[index].caused_ns > 0) text += fmt::format("<p>{}</p>\n", in_words(run.late[index]));
  return text;
}

// The whole is the time inside, its first part the wait.
std::string parts(const RunWait& wait, double longest_ns) {
  const auto width = [=](double time_ns) { return longest_ns > 0 ? 100 * time_ns / longest_ns : 0; };
  return fmt::format(
      "<span class=\"bar parts\"><span class=\"b\" style=\"width:{:.1f}%\"></span><span style=\"width:{:.1f}%\"></span>"
      "</span>",
      width(wait.wait_ns), width(std::max(wait.time_ns - wait.wait_ns, 0.0)));
}

}  // namespace

std::string waits_part(const Run& run) {
  const auto figure = [](const std::string& words) { return fmt::format("<td class=\"figure\">{}</td>", words); };
  double longest_ns = 0, most_ns = 1;
  for (const RunWait& wait : run.waits) longest_ns = std::max(longest_ns, wait.time_ns);
  for (const RunLate& late : run.late) most_ns = std::max(most_ns, late.caused_ns);
  std::string text = run.ranks <= most_bars ? bars(run, most_ns) : map(run, most_ns);
  text +=
      "<p class=\"faint\">Time of all ranks inside: <span class=\"swatch\" style=\"background:var(--without)\"></span>"
      "until the last rank came <span class=\"swatch\" style=\"background:var(--with)\"></span>from then on</p>\n"
      "<div class=\"wide\"><table class=\"waits\">\n<tr><th>call</th><th>on</th><th class=\"figure\">calls</th>"
      "<th class=\"figure\">wait</th><th class=\"figure\">transfer</th><th></th><th>mostly for</th></tr>\n";
  for (const RunWait& wait : run.waits)
    text += fmt::format(
        "<tr><td>{}</td><td>{}</td>{}{}{}<td>{}</td><td>{}</td></tr>\n", escaped(wait.name), escaped(wait.communicator),
        figure(scaled_count(wait.compared)), figure(scaled_time(wait.wait_ns)),
        figure(scaled_time(std::max(wait.time_ns - wait.wait_ns, 0.0))), parts(wait, longest_ns), late_in_words(wait));
  return text + "</table></div>\n";
}

}  // namespace millrace::tools
