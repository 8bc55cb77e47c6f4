// How much of its time each rank was inside MPI: a bar each, or where there are many a square each.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "record/units.h"
#include "tools/page.h"
#include "tools/report/shown.h"

namespace millrace::tools {
namespace {

using record::percent;
using record::scaled_time;

constexpr std::uint64_t cells_a_row = 32, most_cells = 4096;
constexpr double label = 44, pitch = 21, cell = 19;
// The least share is still seen.
constexpr double faintest = 0.08;

std::string title(std::uint64_t rank, const RunRank& of) {
  return fmt::format("rank {} on {}: {} inside MPI, {} of {}", rank, escaped(of.host), percent(of.mpi_share),
                     scaled_time(of.mpi_ns), scaled_time(of.wall_ns));
}

std::string bars(const Run& run) {
  std::string text = "<div class=\"wide\"><table class=\"ranks\">\n";
  for (const auto& [rank, of] : run.by_rank)
    text += fmt::format(
        "<tr title=\"{}\"><td class=\"figure\">rank {}</td><td>{}</td><td class=\"figure\">{}</td>"
        "<td><span class=\"bar\"><span style=\"width:{:.1f}%\"></span></span></td></tr>\n",
        title(rank, of), rank, escaped(of.host), percent(of.mpi_share), 100 * std::clamp(of.mpi_share, 0.0, 1.0));
  return text + "</table></div>\n";
}

std::string map(const Run& run) {
  const double most = std::max(run.mpi_share.max, 1e-9);
  const auto cell_of = [&](std::uint64_t rank) -> std::optional<RankCell> {
    const auto found = run.by_rank.find(rank);
    if (found == run.by_rank.end()) return std::nullopt;
    return RankCell{found->second.mpi_share / most, title(rank, found->second)};
  };
  return rank_map(run, "time inside MPI of each rank", percent(most) + " of the wall time", cell_of);
}

// Those that a reader would look for in the map.
std::string extremes(const Run& run) {
  constexpr std::size_t most = 5;
  std::vector<std::pair<std::uint64_t, const RunRank*>> ranks;
  ranks.reserve(run.by_rank.size());
  for (const auto& [rank, of] : run.by_rank) ranks.emplace_back(rank, &of);
  std::ranges::stable_sort(ranks, {}, [](const auto& each) { return each.second->mpi_share; });
  if (ranks.size() < 2 * most) return {};
  const auto list = [&](auto first, const auto& last) {
    std::string text;
    for (; first != last; ++first)
      text += fmt::format("{}<span class=\"whole\">{} on {} ({})</span>", text.empty() ? "" : ", ", first->first,
                          escaped(first->second->host), percent(first->second->mpi_share));
    return text;
  };
  return fmt::format("<p>least: rank {}</p>\n<p>most: rank {}</p>\n", list(ranks.begin(), ranks.begin() + most),
                     list(ranks.rbegin(), ranks.rbegin() + most));
}

}  // namespace

std::string rank_map(const Run& run, const char* label_text, const std::string& most_text,
                     const std::function<std::optional<RankCell>(std::uint64_t)>& cell_of) {
  const std::uint64_t shown = std::min(run.ranks, most_cells);
  const std::uint64_t rows = (shown + cells_a_row - 1) / cells_a_row;
  std::string text = fmt::format("<svg class=\"map\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n",
                                 label + pitch * cells_a_row, pitch * static_cast<double>(rows), label_text);
  for (std::uint64_t rank = 0; rank < shown; ++rank) {
    const double x = label + pitch * static_cast<double>(rank % cells_a_row);
    const std::uint64_t row = rank / cells_a_row;
    const double y = pitch * static_cast<double>(row);
    if (rank % cells_a_row == 0)
      text += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", label - 8, y + 14, rank);
    const std::optional<RankCell> found = cell_of(rank);
    text += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.0f}\" fill-opacity=\"{:.2f}\">"
        "<title>{}</title></rect>\n",
        found ? "cell" : "hole", x, y, cell, cell,
        found ? faintest + (1 - faintest) * std::clamp(found->share, 0.0, 1.0) : 1,
        found ? found->title : fmt::format("rank {}: no record", rank));
  }
  text += "</svg>\n";
  text += fmt::format(
      "<p class=\"faint\">{} ranks a row; <span class=\"swatch\" style=\"background:var(--with);opacity:{}\"></span>0"
      " <span class=\"swatch\" style=\"background:var(--with)\"></span>{}</p>\n",
      cells_a_row, faintest, most_text);
  if (shown < run.ranks) text += fmt::format("<p class=\"faint\">and {} ranks more</p>\n", run.ranks - shown);
  return text;
}

std::string ranks_part(const Run& run) { return run.ranks <= most_bars ? bars(run) : map(run) + extremes(run); }

}  // namespace millrace::tools
