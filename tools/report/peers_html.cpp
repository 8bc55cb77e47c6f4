// Who sent how much to whom: a square for each pair of ranks, or of blocks of ranks, the darker the more.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "record/units.h"
#include "tools/page.h"
#include "tools/report/peers.h"
#include "tools/report/shown.h"

namespace millrace::tools {
namespace {

using record::percent;
using record::scaled_bytes;
using record::scaled_count;

// In units of the drawing: wide enough that a figure of four places fits beside a row.
constexpr double label = 44, below = 22, widest = 704, largest_cell = 44;
constexpr double faintest = 0.12;

// Where nothing but empty messages was sent, their number is what there is to see.
double weight(const RunPair& pair, bool by_bytes) { return static_cast<double>(by_bytes ? pair.bytes : pair.messages); }

// By the logarithm, which is of a factor of 1000 at least: what is much alike looks much alike.
double darkness(double value, double least, double most) {
  if (value <= 0) return faintest;
  const double range = std::log(most) - std::log(least);
  return range > 0 ? faintest + (1 - faintest) * std::clamp((std::log(value) - std::log(least)) / range, 0.0, 1.0) : 1;
}

std::string ranks_of(std::uint64_t first, const Run& run) {
  const std::uint64_t last = std::min(first + run.peers.block_ranks, run.ranks) - 1;
  return first == last ? fmt::format("rank {}", first) : fmt::format("ranks {}-{}", first, last);
}

// Every so many rows that labels do not touch.
std::uint64_t rows_a_label(double pitch) {
  std::uint64_t rows = 1;
  while (static_cast<double>(rows) * pitch < 20) rows *= 2;
  return rows;
}

std::string labels(const Run& run, std::uint64_t blocks, double pitch) {
  std::string text;
  // Above the columns figures stand beside each other, and take more room.
  const std::uint64_t down = rows_a_label(pitch), across = rows_a_label(pitch / 2);
  for (std::uint64_t block = 0; block < blocks; ++block) {
    const double middle = (static_cast<double>(block) + 0.5) * pitch;
    const std::uint64_t rank = block * run.peers.block_ranks;
    if (block % across == 0)
      text += fmt::format("<text x=\"{:.1f}\" y=\"14\" text-anchor=\"middle\">{}</text>\n", label + middle, rank);
    if (block % down == 0)
      text += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", label - 8,
                          below + middle + 4.5, rank);
  }
  return text;
}

std::string matrix(const Run& run) {
  const RunPeers& peers = run.peers;
  const std::uint64_t blocks = (run.ranks + peers.block_ranks - 1) / peers.block_ranks;
  const double pitch = std::min(largest_cell, std::floor(widest / static_cast<double>(blocks)));
  const double side = pitch * static_cast<double>(blocks), gap = pitch > 8 ? 1 : 0;
  const bool by_bytes = std::ranges::any_of(peers.matrix, [](const RunPair& pair) { return pair.bytes > 0; });
  double least = 0, most = 0;
  for (const RunPair& pair : peers.matrix) {
    const double value = weight(pair, by_bytes);
    most = std::max(most, value);
    if (value > 0 && (least == 0 || value < least)) least = value;
  }
  least = std::min(least, most / 1000);
  std::string text = fmt::format(
      "<p class=\"faint\">Row: who sent. Column: to whom.{}</p>\n"
      "<div class=\"wide\"><svg class=\"peers\" viewBox=\"0 0 {:.0f} {:.0f}\" "
      "style=\"width:{:.0f}px\" role=\"img\" aria-label=\"what each rank sent to each\">\n{}"
      "<rect class=\"frame\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n",
      peers.block_ranks > 1 ? fmt::format(" A square is of {} by {} ranks.", peers.block_ranks, peers.block_ranks) : "",
      label + side + 8, below + side + 4, label + side + 8, labels(run, blocks, pitch), label, below, side, side);
  for (const RunPair& pair : peers.matrix) {
    const std::uint64_t column = pair.to / peers.block_ranks, row = pair.from / peers.block_ranks;
    text += fmt::format(
        "<rect class=\"pair\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill-opacity=\"{:.2f}\">"
        "<title>{} to {}: {} in {} messages</title></rect>\n",
        label + pitch * static_cast<double>(column), below + pitch * static_cast<double>(row), pitch - gap, pitch - gap,
        darkness(weight(pair, by_bytes), least, most), ranks_of(pair.from, run), ranks_of(pair.to, run),
        scaled_bytes(pair.bytes), scaled_count(pair.messages));
  }
  const auto scaled = [&](double value) {
    const auto whole = static_cast<std::uint64_t>(value);
    return by_bytes ? scaled_bytes(whole) : scaled_count(whole) + " messages";
  };
  text += "</svg></div>\n";
  if (most > 0)
    text += fmt::format(
        "<p class=\"faint\"><span class=\"swatch\" style=\"background:var(--with);opacity:{}\"></span>{} "
        "<span class=\"swatch\" style=\"background:var(--with)\"></span>{}, by the logarithm; empty: nothing</p>\n",
        faintest, scaled(std::ceil(least)), scaled(most));
  return text;
}

std::string foremost(const Run& run) {
  constexpr std::size_t most = 8;
  const RunPeers& peers = run.peers;
  const auto figure = [](const std::string& words) { return fmt::format("<td class=\"figure\">{}</td>", words); };
  const auto row = [&](const std::string& who, std::uint64_t messages, std::uint64_t bytes) {
    const double part = peers.bytes == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(peers.bytes);
    return fmt::format(
        "<tr><td>{}</td>{}{}{}<td><span class=\"bar\"><span style=\"width:{:.1f}%\"></span></span></td></tr>\n", who,
        figure(scaled_count(messages)), figure(scaled_bytes(bytes)), figure(percent(part)),
        100 * std::clamp(part, 0.0, 1.0));
  };
  std::string text =
      "<div class=\"wide\"><table class=\"pairs\">\n<tr><th>most</th><th class=\"figure\">messages</th>"
      "<th class=\"figure\">bytes</th><th class=\"figure\">of all</th><th></th></tr>\n";
  for (std::size_t index = 0; index < std::min(most, peers.foremost.size()); ++index) {
    const RunPair& pair = peers.foremost[index];
    text += row(fmt::format("rank {} to {}", pair.from, pair.to), pair.messages, pair.bytes);
  }
  if (peers.other_messages > 0) text += row("to others", peers.other_messages, peers.other_bytes);
  return text + "</table></div>\n";
}

}  // namespace

std::string peers_part(const Run& run) {
  const RunPeers& peers = run.peers;
  std::string text =
      fmt::format("<p>{} messages with {}</p>\n", scaled_count(peers.messages), scaled_bytes(peers.bytes));
  if (!peers.matrix.empty()) text += matrix(run);
  return text + foremost(run);
}

}  // namespace millrace::tools
