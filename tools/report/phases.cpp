#include "tools/report/phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "record/phases.h"
#include "record/units.h"
#include "tools/report/run.h"
#include "tools/report/values.h"

namespace millrace::tools {
namespace {

using nlohmann::json;
using record::percent;
using record::scaled_bytes;
using record::scaled_count;
using record::scaled_time;

double share_of(const json& value, const char* name) {
  const double share = value.at(name).get<double>();
  if (!std::isfinite(share) || share < 0) throw std::runtime_error("a share of time is none");
  return share;
}

// Of what the greatest is 9: who is there at all is no 0.
char digit(double part) {
  if (part <= 0) return '.';
  return static_cast<char>('0' + std::lround(9 * std::min(part, 1.0)));
}

std::uint64_t most_bytes(const RunPhases& phases) {
  std::uint64_t most = 0;
  for (const RunPhase& slice : phases.slices) most = std::max(most, slice.bytes);
  return most;
}

double part_of(std::uint64_t bytes, std::uint64_t most) {
  return most == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(most);
}

std::string title_of(const RunPhases& phases, std::size_t index) {
  const RunPhase& slice = phases.slices[index];
  return fmt::format("{} to {}: {} inside MPI, from {} to {} on rank {}; {} calls, {}",
                     scaled_time(phases.slice_ns * static_cast<double>(index)),
                     scaled_time(phases.slice_ns * static_cast<double>(index + 1)), percent(slice.mean),
                     percent(slice.least), percent(slice.most), slice.most_rank, scaled_count(slice.calls),
                     scaled_bytes(slice.bytes));
}

}  // namespace

RunPhases phases_of(const json& report, std::uint64_t ranks) {
  const auto found = report.find("phases");
  if (found == report.end()) return {};
  RunPhases phases{static_cast<double>(count_of(*found, "slice_ns")), {}};
  for (const json& value : found->at("slices")) {
    const json& share = value.at("mpi_share");
    phases.slices.push_back({count_of(value, "calls"), count_of(value, "bytes"), count_of(value, "ranks"),
                             share_of(share, "mean"), share_of(share, "min"), share_of(share, "max"),
                             count_of(share, "max_rank")});
    if (phases.slices.back().most_rank >= ranks) throw std::runtime_error("a rank that is none");
  }
  if (phases.slices.size() > record::phase_slices) throw std::runtime_error("there are too many slices of time");
  return phases;
}

std::string phases_text(const Run& run) {
  const RunPhases& phases = run.phases;
  if (phases.slices.empty()) return {};
  const std::uint64_t most = most_bytes(phases);
  std::string inside, widest, bytes;
  for (const RunPhase& slice : phases.slices) {
    inside += digit(slice.mean);
    widest += digit(slice.most);
    bytes += digit(part_of(slice.bytes, most));
  }
  std::string text = fmt::format("\nover time, {} slices of {}: 9 is all of it, of bytes {}\n", phases.slices.size(),
                                 scaled_time(phases.slice_ns), scaled_bytes(most));
  text += fmt::format("inside MPI    |{}|\n", inside);
  if (run.ranks > 1) text += fmt::format("  most a rank |{}|\n", widest);
  if (most > 0) text += fmt::format("bytes         |{}|\n", bytes);
  return text;
}

std::string phases_part(const Run& run) {
  constexpr double column = 14, shares = 90, gap = 14, volume = 40;
  const RunPhases& phases = run.phases;
  const std::uint64_t most = most_bytes(phases);
  const double width = column * static_cast<double>(phases.slices.size());
  const double height = shares + (most > 0 ? gap + volume : 0);
  std::string text = fmt::format(
      "<p>{} slices of {}. Above, the time inside MPI: a bar for the mean of the ranks, a line from the least to the "
      "greatest.{}</p>\n",
      phases.slices.size(), scaled_time(phases.slice_ns),
      most > 0 ? fmt::format(" Below, the bytes posted, at most {}.", scaled_bytes(most)) : "");
  text += fmt::format(
      "<div class=\"wide\"><svg class=\"phases\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"over "
      "time\">\n<rect class=\"track\" x=\"0\" y=\"0\" width=\"{0:.0f}\" height=\"{2:.0f}\"/>\n",
      width, height, shares);
  const auto high = [](double share) { return shares * std::clamp(share, 0.0, 1.0); };
  for (std::size_t index = 0; index < phases.slices.size(); ++index) {
    const RunPhase& slice = phases.slices[index];
    const double x = column * static_cast<double>(index);
    text += fmt::format(
        "<g><title>{}</title><rect x=\"{:.0f}\" y=\"0\" width=\"{:.0f}\" height=\"{:.0f}\" fill-opacity=\"0\"/>"
        "<rect class=\"mean\" x=\"{:.0f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.1f}\"/>",
        title_of(phases, index), x, column, height, x, shares - high(slice.mean), column - 1, high(slice.mean));
    if (run.ranks > 1)
      text += fmt::format("<line class=\"range\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>",
                          x + (column - 1) / 2, shares - high(slice.most), shares - high(slice.least));
    if (most > 0) {
      const double bar = volume * part_of(slice.bytes, most);
      text += fmt::format("<rect class=\"volume\" x=\"{:.0f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.1f}\"/>", x,
                          height - bar, column - 1, bar);
    }
    text += "</g>\n";
  }
  return text + "</svg></div>\n";
}

}  // namespace millrace::tools
