#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "record/report.h"
#include "record/units.h"

namespace millrace::record {
namespace {

constexpr std::size_t columns = 100;
constexpr std::size_t most_rows = 25;

std::string cut(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  text.resize(width - 2);
  return text + "..";
}

class Table {
 public:
  // Names come from the machine and the environment: what would break the line, or colour the terminal, is blanked.
  void line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](unsigned char letter) { return std::iscntrl(letter) != 0; }, ' ');
    text.erase(text.find_last_not_of(' ') + 1);
    text_ += cut(std::move(text), columns) + "\n";
  }

  void row(std::string_view name, std::string_view calls, std::string_view bytes, std::string_view min,
           std::string_view median, std::string_view max, std::string_view rank, std::string_view per_call,
           std::string_view taken) {
    line(fmt::format("{:<29} {:>7} {:>8} {:>8} {:>8} {:>8} {:>7} {:>9} {:>7}", cut(std::string(name), 29), calls, bytes,
                     min, median, max, rank, per_call, taken));
  }

  // Items after a heading, as many as fit on one line.
  void list(std::string_view heading, const std::vector<std::string>& items) {
    std::string text = fmt::format("    {}", heading);
    for (std::size_t index = 0; index < items.size(); ++index) {
      const std::string more = fmt::format(", and {} more", items.size() - index);
      const bool last = index + 1 == items.size();
      if (text.size() + 2 + items[index].size() + (last ? 0 : more.size()) > columns && index > 0) {
        text += more;
        break;
      }
      text += (index == 0 ? " " : ", ") + items[index];
    }
    line(std::move(text));
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string plural(std::uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

void print_head(Table& table, const Report& report) {
  const RankIdentity& first = report.by_rank.front().identity;
  table.line(fmt::format("millrace {}: {} on {}, {}", MILLRACE_VERSION,
                         plural(static_cast<std::uint64_t>(report.ranks), "rank"), plural(report.hosts, "host"),
                         first.host_mpi));
  table.line(
      fmt::format("preload {}, kernels {}, wall time {}", first.variant, first.isa, scaled_time(report.wall_ns.max)));
  if (report.by_rank.size() == 1)
    table.line(fmt::format("inside MPI {} of the wall time", percent(report.mpi_share.max)));
  else
    table.line(fmt::format("inside MPI {} of the wall time (median over ranks), from {} to {} on rank {}",
                           percent(report.mpi_share.median), percent(report.mpi_share.min),
                           percent(report.mpi_share.max), report.mpi_share.max_rank));
  for (const std::string& note : report.notes) table.line("note: " + note);
}

std::string taken_share(const CallRecord& call) {
  if (call.taken() == 0) return "-";
  return percent(static_cast<double>(call.taken()) / static_cast<double>(call.calls()));
}

void print_taken(Table& table, const CallRecord& call) {
  std::vector<std::string> items;
  std::uint64_t named = 0;
  for (const AlgorithmRecord& algorithm : call.algorithms) {
    named += algorithm.calls;
    items.push_back(fmt::format("{} {}", algorithm.name, scaled_count(algorithm.calls)));
  }
  if (named < call.taken()) items.push_back(fmt::format("other {}", scaled_count(call.taken() - named)));
  if (!items.empty()) table.list("taken:", items);
}

// Only where it says something: that there is no algorithm for a call is what a '-' under "taken" means.
void print_forwarded(Table& table, const CallRecord& call) {
  constexpr auto plain = static_cast<std::size_t>(Reason::not_accelerated);
  std::vector<std::string> items;
  bool remarkable = call.taken() > 0;
  for (std::size_t reason = 1; reason < reason_count; ++reason) {
    if (call.outcome[reason] == 0) continue;
    remarkable = remarkable || reason != plain;
    items.push_back(fmt::format("{} {}", reason_text(static_cast<Reason>(reason)), scaled_count(call.outcome[reason])));
  }
  if (remarkable && !items.empty()) table.list("forwarded:", items);
}

// "1.20 ms (+- 0.10 ms)"
std::string saved_time(const SavedTime& saved) {
  return fmt::format("{}{} (+- {})", saved.time_ns < 0 ? "-" : "", scaled_time(std::fabs(saved.time_ns)),
                     scaled_time(saved.error_ns));
}

void print_saved(Table& table, const SavedTime& saved) {
  if (saved.calls > 0)
    table.line(fmt::format("    saved: {} in {} calls", saved_time(saved), scaled_count(saved.calls)));
}

// "rank 2 190 ms (last in 850 calls)"
std::vector<std::string> late_items(std::span<const LateReport> ranks) {
  constexpr std::size_t most = 5;
  std::vector<std::string> items;
  for (const LateReport& late : ranks.first(std::min(ranks.size(), most)))
    if (late.caused_ns > 0)
      items.push_back(fmt::format("rank {} {} (last in {} calls)", late.rank,
                                  scaled_time(static_cast<double>(late.caused_ns)), scaled_count(late.calls)));
  return items;
}

void print_wait(Table& table, const WaitReport& wait) {
  const auto wait_ns = static_cast<double>(wait.sum.wait_ns), time_ns = static_cast<double>(wait.sum.time_ns);
  std::string latest = "-", share = "-", last_in = "-";
  if (wait_ns > 0 && !wait.by_rank.empty()) {
    const LateReport& first = wait.by_rank.front();
    latest = fmt::format("rank {}", first.rank);
    share = percent(static_cast<double>(first.caused_ns) / wait_ns);
    last_in = scaled_count(first.calls);
  }
  table.line(fmt::format("{:<29} {:>7} {:>8} {:>8} {:>9} {:>7} {:>8}  {}", cut(wait.sum.call, 29),
                         scaled_count(wait.sum.compared), scaled_time(wait_ns),
                         scaled_time(std::max(time_ns - wait_ns, 0.0)), latest, share, last_in, wait.sum.communicator));
}

// Of the time inside calls of which it is known when each rank came: how much was waiting, and for whom.
void print_waits(Table& table, const Report& report) {
  constexpr std::size_t most = 8;
  if (report.waits.empty()) return;
  table.line("");
  table.line(fmt::format("{:<29} {:>7} {:>8} {:>8} {:>9} {:>7} {:>8}  {}", "waiting for the last rank", "calls", "wait",
                         "transfer", "latest", "share", "last in", "on"));
  for (const WaitReport& wait : std::span(report.waits).first(std::min(report.waits.size(), most)))
    print_wait(table, wait);
  if (report.waits.size() > most) table.line(fmt::format("and {} more", report.waits.size() - most));
  const std::vector<std::string> items = late_items(report.late);
  if (!items.empty()) table.list("waited for:", items);
}

// Who sent most to whom.
void print_peers(Table& table, const PeersReport& peers) {
  constexpr std::size_t most = 8;
  if (peers.messages == 0) return;
  std::vector<std::string> items;
  for (const PeerPair& pair : std::span(peers.foremost).first(std::min(peers.foremost.size(), most)))
    items.push_back(in_words(pair));
  if (peers.other_messages > 0)
    items.push_back(
        fmt::format("others {} ({} messages)", scaled_bytes(peers.other_bytes), scaled_count(peers.other_messages)));
  table.line("");
  table.line(fmt::format("messages: {}, {}", scaled_count(peers.messages), scaled_bytes(peers.bytes)));
  table.list("most:", items);
}

// On what communicator ranks were how long.
void print_communicators(Table& table, std::span<const CommunicatorReport> communicators) {
  constexpr std::size_t most = 8;
  if (communicators.size() < 2) return;  // the whole table says the same
  table.line("");
  table.line(fmt::format("{:<29} {:>7} {:>7} {:>7} {:>8} {:>8} {:>8} {:>7} {:>7}", "communicator", "size", "made",
                         "calls", "bytes", "time", "longest", "at rank", "taken"));
  for (const CommunicatorReport& one : communicators.first(std::min(communicators.size(), most)))
    table.line(fmt::format("{:<29} {:>7} {:>7} {:>7} {:>8} {:>8} {:>8} {:>7} {:>7}", in_words(one.sum, 29),
                           one.sum.size == 0 ? "-" : std::to_string(one.sum.size), scaled_count(one.sum.made),
                           scaled_count(one.sum.calls), scaled_bytes(one.sum.bytes),
                           scaled_time(static_cast<double>(one.sum.time_ns)),
                           scaled_time(static_cast<double>(one.most_ns)), one.most_rank,
                           percent(static_cast<double>(one.sum.taken) / static_cast<double>(one.sum.calls))));
  if (communicators.size() > most) table.line(fmt::format("and {} more", communicators.size() - most));
}

// In what part of itself the program was how long.
void print_regions(Table& table, const RegionsReport& regions) {
  constexpr std::size_t most = 12;
  if (regions.unbalanced > 0)
    table.line(fmt::format("note: regions begun and ended by MPI_Pcontrol do not match in {} places",
                           scaled_count(regions.unbalanced)));
  if (regions.all.empty()) return;
  table.line("");
  table.line(fmt::format("{:<29} {:>7} {:>7} {:>7} {:>8} {:>8} {:>7} {:>8} {:>7}", "region", "entered", "ranks",
                         "calls", "bytes", "wall", "in MPI", "longest", "at rank"));
  for (const RegionReport& region : std::span(regions.all).first(std::min(regions.all.size(), most))) {
    const auto wall_ns = static_cast<double>(region.sum.wall_ns), time_ns = static_cast<double>(region.sum.time_ns);
    table.line(fmt::format("{:<29} {:>7} {:>7} {:>7} {:>8} {:>8} {:>7} {:>8} {:>7}", cut(region.sum.name, 29),
                           scaled_count(region.sum.entered), region.ranks, scaled_count(region.sum.calls),
                           scaled_bytes(region.sum.bytes), scaled_time(wall_ns),
                           percent(wall_ns > 0 ? time_ns / wall_ns : 0),
                           scaled_time(static_cast<double>(region.most_ns)), region.most_rank));
  }
  if (regions.all.size() > most) table.line(fmt::format("and {} more", regions.all.size() - most));
}

std::string per_call(std::uint64_t time_ns, std::uint64_t calls) {
  return calls == 0 ? "-" : scaled_time(static_cast<double>(time_ns) / static_cast<double>(calls));
}

void print_call(Table& table, const CallReport& call) {
  const CallRecord& sum = call.sum;
  table.row(sum.name, scaled_count(sum.calls()), scaled_bytes(sum.bytes), scaled_time(call.time_ns.min),
            scaled_time(call.time_ns.median), scaled_time(call.time_ns.max), std::to_string(call.time_ns.max_rank),
            per_call(sum.time_ns, sum.calls()), taken_share(sum));
  print_taken(table, sum);
  print_forwarded(table, sum);
  print_saved(table, sum.saved);
}

struct Total {
  std::uint64_t calls = 0, bytes = 0, time_ns = 0, taken = 0;

  void add(const CallRecord& call) {
    calls += call.calls();
    bytes += call.bytes;
    time_ns += call.time_ns;
    taken += call.taken();
  }
};

void print_total(Table& table, const Report& report) {
  Total total;
  for (const CallReport& call : report.calls) total.add(call.sum);
  const double share = total.calls == 0 ? 0 : static_cast<double>(total.taken) / static_cast<double>(total.calls);
  table.row("total", scaled_count(total.calls), scaled_bytes(total.bytes), scaled_time(report.time_ns.min),
            scaled_time(report.time_ns.median), scaled_time(report.time_ns.max),
            std::to_string(report.time_ns.max_rank), per_call(total.time_ns, total.calls),
            total.taken == 0 ? "-" : percent(share));
  const SavedTime saved = saved_by(report.calls);
  if (saved.calls > 0)
    table.line(fmt::format("saved {} of the ranks' time in {} calls, as measured against the host", saved_time(saved),
                           scaled_count(saved.calls)));
}

}  // namespace

std::string to_table(const Report& report) {
  if (report.by_rank.empty()) return "millrace: nothing recorded\n";
  Table table;
  print_head(table, report);
  table.line("");
  table.row("", "", "", "time", "inside", "a rank", "", "", "");
  table.row("call", "calls", "bytes", "min", "median", "max", "at rank", "per call", "taken");
  Total rest;
  for (std::size_t index = 0; index < report.calls.size(); ++index) {
    if (index < most_rows)
      print_call(table, report.calls[index]);
    else
      rest.add(report.calls[index].sum);
  }
  if (report.calls.size() > most_rows)
    table.line(fmt::format("and {} more, called {} times, {} in all ranks together", report.calls.size() - most_rows,
                           scaled_count(rest.calls), scaled_time(static_cast<double>(rest.time_ns))));
  print_total(table, report);
  print_waits(table, report);
  print_communicators(table, report.communicators);
  print_peers(table, report.peers);
  print_regions(table, report.regions);
  return table.take();
}

}  // namespace millrace::record
