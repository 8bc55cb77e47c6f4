// What `millrace report` prints.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "record/units.h"
#include "tools/doctor/shown.h"
#include "tools/report/shown.h"
#include "tools/report/versus.h"

namespace millrace::tools {
namespace {

using record::percent;
using record::scaled_bytes;
using record::scaled_count;
using record::scaled_time;

constexpr std::size_t columns = 80, name_columns = 24;
constexpr std::size_t most_rows = 20;
constexpr std::uint64_t ranks_a_line = 64, most_ranks = 4096;  // of the map
constexpr double bar_columns = 40;

std::string cut(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 2) + "..";
}

std::string line(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return cut(text, columns) + '\n';
}

std::string head(const Run& run, const std::string& start) {
  std::string text = line(fmt::format("{}{}: {}, {}", start, run.file, ranks_and_hosts(run), run.host_mpi));
  text += line(fmt::format("  millrace {}, preload {}, kernels {}, wall time {}", run.version, run.preload, run.isa,
                           scaled_time(run.wall_ns.max)));
  text += wrapped("  ", inside_mpi_in_words(run));
  for (const std::string& note : run.notes) text += wrapped("  note: ", note);
  return text;
}

// A line each.
std::string bars(const Run& run) {
  std::string text = "\ninside MPI, of the wall time of each rank\n";
  for (const auto& [rank, of] : run.by_rank)
    text +=
        line(fmt::format("{:>6}  {:<15} {:>6} |{}", rank, cut(of.host, 15), percent(of.mpi_share),
                         std::string(static_cast<std::size_t>(std::clamp(of.mpi_share, 0.0, 1.0) * bar_columns), '#')));
  return text;
}

// A digit each, from the least to the most: who differs is seen also where all are much alike.
std::string map(const Run& run) {
  const double least = run.mpi_share.min, width = std::max(run.mpi_share.max - least, 1e-9);
  std::string text = fmt::format("\ninside MPI, each rank: 0 is {} of its wall time, 9 is {}; '.' no record\n",
                                 percent(least), percent(run.mpi_share.max));
  for (std::uint64_t first = 0; first < std::min(run.ranks, most_ranks); first += ranks_a_line) {
    text += fmt::format("{:>6}  ", first);
    for (std::uint64_t rank = first; rank < std::min(run.ranks, first + ranks_a_line); ++rank) {
      const auto found = run.by_rank.find(rank);
      const double place = found == run.by_rank.end() ? 0 : (found->second.mpi_share - least) / width;
      text += found == run.by_rank.end() ? '.' : static_cast<char>('0' + std::lround(9 * std::clamp(place, 0.0, 1.0)));
    }
    text += '\n';
  }
  if (run.ranks > most_ranks) text += fmt::format("        and {} ranks more\n", run.ranks - most_ranks);
  return text;
}

std::string wrapped_items(const std::string& text) {
  std::string lines, left = "    " + text;
  while (left.size() > columns) {
    std::size_t end = left.rfind(", ", columns - 1);
    if (end == std::string::npos || end < 6) break;
    lines += left.substr(0, end + 1) + '\n';
    left = "      " + left.substr(end + 2);
  }
  return lines + line(left);
}

std::string row(const std::string& name, const std::string& calls, const std::string& bytes, const std::string& min,
                const std::string& median, const std::string& max, const std::string& rank, const std::string& taken) {
  return line(fmt::format("{:<{}} {:>6} {:>8} {:>7} {:>7} {:>7} {:>6} {:>6}", cut(name, name_columns), name_columns,
                          calls, bytes, min, median, max, rank, taken));
}

std::string calls(const Run& run) {
  std::string text = '\n' + row("", "", "", "time", "inside", "a rank", "", "");
  text += row("call", "calls", "bytes", "min", "median", "max", "rank", "taken");
  double rest_ns = 0;
  for (std::size_t index = 0; index < run.calls.size(); ++index) {
    const RunCall& call = run.calls[index];
    if (index >= most_rows) {
      rest_ns += call.time_ns;
      continue;
    }
    text += row(call.name, scaled_count(call.calls), scaled_bytes(call.bytes), scaled_time(call.rank_time_ns.min),
                scaled_time(call.rank_time_ns.median), scaled_time(call.rank_time_ns.max),
                std::to_string(call.rank_time_ns.max_rank), taken_in_words(call));
    for (const std::string& detail : details_of(call)) text += wrapped_items(detail);
  }
  if (run.calls.size() > most_rows)
    text +=
        line(fmt::format("and {} more, {} in all ranks together", run.calls.size() - most_rows, scaled_time(rest_ns)));
  text += line(fmt::format("total {} calls, {} in all ranks together, taken {}", scaled_count(run.total.calls),
                           scaled_time(run.total.time_ns), taken_in_words(run.total)));
  if (const std::string saved = saved_in_words(run.total); !saved.empty()) text += line(saved);
  return text;
}

std::string wait_row(const std::string& name, const std::string& calls, const std::string& wait,
                     const std::string& transfer, const std::string& latest, const std::string& communicator) {
  return line(fmt::format("{:<{}} {:>6} {:>7} {:>8}  {:<14} {}", cut(name, name_columns), name_columns, calls, wait,
                          transfer, latest, communicator));
}

// Who the others waited for, and in which calls.
std::string waits(const Run& run) {
  constexpr std::size_t most_waits = 8, most_late = 5;
  if (run.waits.empty()) return {};
  std::string text = '\n' + wait_row("waiting for the last", "calls", "wait", "transfer", "mostly for", "on");
  for (const RunWait& wait : std::span(run.waits).first(std::min(run.waits.size(), most_waits)))
    text += wait_row(wait.name, scaled_count(wait.compared), scaled_time(wait.wait_ns),
                     scaled_time(std::max(wait.time_ns - wait.wait_ns, 0.0)), late_in_words(wait), wait.communicator);
  if (run.waits.size() > most_waits) text += line(fmt::format("and {} more", run.waits.size() - most_waits));
  std::string list;
  for (const RunLate& late : std::span(run.late).first(std::min(run.late.size(), most_late)))
    if (late.caused_ns > 0)
      list += fmt::format("{}rank {} {} (last in {} calls)", list.empty() ? "waited for: " : ", ", late.rank,
                          scaled_time(late.caused_ns), scaled_count(late.calls));
  return list.empty() ? text : text + wrapped_items(list);
}

std::string versus_row(const std::string& name, const std::string& calls_a, const std::string& calls_b,
                       const std::string& time_a, const std::string& time_b, const std::string& change,
                       const std::string& taken_a, const std::string& taken_b) {
  return line(fmt::format("{:<{}} {:>6} {:>6} {:>7} {:>7} {:>7} {:>6} {:>6}", cut(name, name_columns), name_columns,
                          calls_a, calls_b, time_a, time_b, change, taken_a, taken_b));
}

std::string versus(const Run& first, const Run& second) {
  std::string text;
  for (const std::string& difference : differences(first, second)) text += line("differs: " + difference);
  text += '\n' + versus_row("", "calls", "", "time", "mean of", "a rank", "taken", "");
  text += versus_row("call", "A", "B", "A", "B", "change", "A", "B");
  const std::vector<CallPair> pairs = pair_calls(first, second);
  const auto add = [&](const std::string& name, const RunCall* a, const RunCall* b) {
    const double a_ns = mean_rank_ns(first, a), b_ns = mean_rank_ns(second, b);
    text += versus_row(name, a ? scaled_count(a->calls) : "-", b ? scaled_count(b->calls) : "-",
                       a ? scaled_time(a_ns) : "-", b ? scaled_time(b_ns) : "-", change_in_words(a_ns, b_ns),
                       a ? taken_in_words(*a) : "-", b ? taken_in_words(*b) : "-");
  };
  for (std::size_t index = 0; index < std::min(pairs.size(), most_rows); ++index)
    add(pairs[index].name, pairs[index].first, pairs[index].second);
  if (pairs.size() > most_rows) text += line(fmt::format("and {} more, in the total", pairs.size() - most_rows));
  add("total", &first.total, &second.total);
  text += versus_row("wall time", "", "", scaled_time(first.wall_ns.max), scaled_time(second.wall_ns.max),
                     change_in_words(first.wall_ns.max, second.wall_ns.max), "", "");
  return text + '\n' + wrapped("", one_run_each);
}

}  // namespace

std::string report_text(const std::vector<Run>& runs) {
  if (runs.size() == 2) return head(runs[0], "A  ") + head(runs[1], "B  ") + versus(runs[0], runs[1]);
  const Run& run = runs.front();
  std::string text = head(run, "");
  if (run.ranks > 1) text += run.ranks <= most_bars ? bars(run) : map(run);
  return text + phases_text(run) + calls(run) + waits(run) + regions_text(run) + communicators_text(run) +
         peers_text(run);
}

}  // namespace millrace::tools
