#include "tools/report/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "record/units.h"
#include "tools/page.h"
#include "tools/report/run.h"
#include "tools/report/values.h"

namespace millrace::tools {
namespace {

using nlohmann::json;
using record::percent;
using record::scaled_bytes;
using record::scaled_count;
using record::scaled_time;

double time_of(const json& value, const char* name) { return static_cast<double>(count_of(value, name)); }

double mean_ns(const RunRegion& region) {
  return region.ranks == 0 ? 0 : region.wall_ns / static_cast<double>(region.ranks);
}

double mpi_share(const RunRegion& region) { return region.wall_ns > 0 ? region.mpi_ns / region.wall_ns : 0; }

std::string unbalanced_line(const Run& run) {
  return fmt::format("Begun and ended regions do not match in {} places.", scaled_count(run.regions.unbalanced));
}

// Names are the program's, of any length up to 63.
std::string cut(const std::string& name, std::size_t width) {
  return name.size() <= width ? name : name.substr(0, width - 2) + "..";
}

}  // namespace

RunRegions regions_of(const json& report, std::uint64_t ranks) {
  const auto found = report.find("regions");
  if (found == report.end()) return {};
  RunRegions regions{count_of(*found, "unbalanced"), {}};
  for (const json& value : found->at("all")) {
    RunRegion& region = regions.all.emplace_back();
    region.name = text_of(value, "name");
    region.entered = count_of(value, "entered");
    region.ranks = count_of(value, "ranks");
    region.calls = count_of(value, "calls");
    region.bytes = count_of(value, "bytes");
    region.mpi_ns = time_of(value, "mpi_ns");
    region.wall_ns = time_of(value, "wall_ns");
    region.longest_ns = time_of(value.at("longest"), "wall_ns");
    region.longest_rank = count_of(value.at("longest"), "rank");
    if (region.longest_rank >= ranks) throw std::runtime_error("a rank that is none");
  }
  return regions;
}

std::string regions_text(const Run& run) {
  constexpr std::size_t most = 16;
  const auto& all = run.regions.all;
  std::string text;
  if (!all.empty())
    text += fmt::format("\n{:<22} {:>7} {:>7} {:>8} {:>8} {:>6} {:>8} {:>7}\n", "region, mean of a rank", "entered",
                        "calls", "bytes", "wall", "in MPI", "longest", "at rank");
  for (std::size_t index = 0; index < std::min(most, all.size()); ++index) {
    const RunRegion& region = all[index];
    text += fmt::format("{:<22} {:>7} {:>7} {:>8} {:>8} {:>6} {:>8} {:>7}\n", cut(region.name, 22),
                        scaled_count(region.entered), scaled_count(region.calls), scaled_bytes(region.bytes),
                        scaled_time(mean_ns(region)), percent(mpi_share(region)), scaled_time(region.longest_ns),
                        region.longest_rank);
  }
  if (all.size() > most) text += fmt::format("and {} more\n", all.size() - most);
  if (run.regions.unbalanced > 0) text += "\n" + unbalanced_line(run) + "\n";
  return text;
}

std::string regions_part(const Run& run) {
  const auto& all = run.regions.all;
  double longest = 0;
  for (const RunRegion& region : all) longest = std::max(longest, mean_ns(region));
  const auto figure = [](const std::string& words) { return fmt::format("<td class=\"figure\">{}</td>", words); };
  std::string text =
      "<div class=\"wide\"><table class=\"regions\">\n<tr><th>region</th><th class=\"figure\">entered</th>"
      "<th class=\"figure\">ranks</th><th class=\"figure\">calls</th><th class=\"figure\">bytes</th>"
      "<th class=\"figure\">in a rank</th><th></th><th class=\"figure\">inside MPI</th>"
      "<th class=\"figure\">longest</th><th class=\"figure\">at rank</th></tr>\n";
  for (const RunRegion& region : all)
    text += fmt::format(
        "<tr><td>{}</td>{}{}{}{}{}<td><span class=\"bar\"><span "
        "style=\"width:{:.1f}%\"></span></span></td>{}{}{}</tr>\n",
        escaped(region.name), figure(scaled_count(region.entered)), figure(scaled_count(region.ranks)),
        figure(scaled_count(region.calls)), figure(scaled_bytes(region.bytes)), figure(scaled_time(mean_ns(region))),
        longest > 0 ? 100 * mean_ns(region) / longest : 0, figure(percent(mpi_share(region))),
        figure(scaled_time(region.longest_ns)), figure(std::to_string(region.longest_rank)));
  text += "</table></div>\n";
  if (run.regions.unbalanced > 0) text += fmt::format("<p>{}</p>\n", unbalanced_line(run));
  return text;
}

}  // namespace millrace::tools
