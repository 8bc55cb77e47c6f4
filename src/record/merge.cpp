#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "record/report.h"

namespace millrace::record {
namespace {

// values[i] belongs to records[i].
Spread spread(std::vector<double> values, std::span<const RankRecord> records) {
  Spread result;
  if (values.empty()) return result;
  result.max_rank = INT32_MAX;
  result.max = *std::max_element(values.begin(), values.end());
  for (std::size_t index = 0; index < values.size(); ++index)
    if (values[index] == result.max) result.max_rank = std::min(result.max_rank, records[index].identity.rank);
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  result.min = values.front();
  result.median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return result;
}

// Where algorithms of a name are in a sum: records of other processes may name any number.
using Places = std::map<std::string, std::size_t, std::less<>>;

// Ranks have measured the same calls: their errors are not independent.
void add(SavedTime& sum, const SavedTime& saved) {
  sum.calls += saved.calls;
  sum.time_ns += saved.time_ns;
  sum.error_ns += saved.error_ns;
}

void add(CallRecord& sum, Places& places, const CallRecord& call) {
  add(sum.saved, call.saved);
  sum.bytes += call.bytes;
  sum.time_ns += call.time_ns;
  for (const SizeRecord& size : call.sizes) add_size(sum.sizes, size);
  for (std::size_t reason = 0; reason < reason_count; ++reason) sum.outcome[reason] += call.outcome[reason];
  for (const AlgorithmRecord& algorithm : call.algorithms) {
    const auto [place, added] = places.try_emplace(algorithm.name, sum.algorithms.size());
    if (added) sum.algorithms.push_back({algorithm.name, 0, 0, 0});
    AlgorithmRecord& same = sum.algorithms[place->second];
    same.calls += algorithm.calls;
    same.bytes += algorithm.bytes;
    same.time_ns += algorithm.time_ns;
  }
}

std::vector<CallReport> merge_calls(std::span<const RankRecord> records) {
  struct Gathered {
    CallReport call;
    Places algorithms;
    std::vector<double> time_ns;
  };
  std::map<std::string, Gathered> by_name;
  for (std::size_t index = 0; index < records.size(); ++index) {
    for (const CallRecord& call : records[index].calls) {
      Gathered& gathered = by_name[call.name];
      gathered.time_ns.resize(records.size());
      gathered.time_ns[index] += static_cast<double>(call.time_ns);
      gathered.call.sum.name = call.name;
      gathered.call.ranks += 1;
      add(gathered.call.sum, gathered.algorithms, call);
    }
  }
  std::vector<CallReport> calls;
  for (auto& [name, gathered] : by_name) {
    gathered.call.time_ns = spread(std::move(gathered.time_ns), records);
    std::stable_sort(gathered.call.sum.algorithms.begin(), gathered.call.sum.algorithms.end(),
                     [](const auto& left, const auto& right) { return left.calls > right.calls; });
    calls.push_back(std::move(gathered.call));
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto& left, const auto& right) { return left.sum.time_ns > right.sum.time_ns; });
  return calls;
}

std::vector<LateReport> by_what_they_caused(const std::map<std::int32_t, LateReport>& ranks) {
  std::vector<LateReport> sorted;
  sorted.reserve(ranks.size());
  for (const auto& [rank, late] : ranks) sorted.push_back(late);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& left, const auto& right) { return left.caused_ns > right.caused_ns; });
  return sorted;
}

std::vector<LateReport> merge_late_ranks(std::span<const RankRecord> records) {
  std::map<std::int32_t, LateReport> ranks;
  const auto of = [&ranks](std::int32_t rank) -> LateReport& {
    LateReport& late = ranks[rank];
    late.rank = rank;
    return late;
  };
  for (const RankRecord& record : records) {
    for (const WaitRecord& wait : record.waits.calls) of(record.identity.rank).wait_ns += wait.wait_ns;
    for (const LateRank& late : record.waits.for_rank) {
      of(late.rank).calls += late.calls;
      of(late.rank).caused_ns += late.wait_ns;
    }
  }
  return by_what_they_caused(ranks);
}

std::vector<WaitReport> merge_waits(std::span<const RankRecord> records) {
  struct Gathered {
    WaitRecord sum;
    std::map<std::int32_t, LateReport> ranks;
  };
  std::map<std::pair<std::string, std::string>, Gathered> all;
  for (const RankRecord& record : records)
    for (const WaitRecord& wait : record.waits.calls) {
      Gathered& one = all[{wait.call, wait.communicator}];
      one.sum.call = wait.call;
      one.sum.communicator = wait.communicator;
      one.sum.compared = std::max(one.sum.compared, wait.compared);
      one.sum.time_ns += wait.time_ns;
      one.sum.wait_ns += wait.wait_ns;
      for (const LateRank& rank : wait.for_rank) {
        LateReport& late = one.ranks[rank.rank];
        late = {rank.rank, late.calls + rank.calls, late.caused_ns + rank.wait_ns, 0};
      }
    }
  constexpr std::size_t most_ranks = 8;
  std::vector<WaitReport> waits;
  waits.reserve(all.size());
  for (auto& [place, one] : all) {
    std::vector<LateReport> foremost = by_what_they_caused(one.ranks);
    foremost.resize(std::min(foremost.size(), most_ranks));
    waits.push_back({std::move(one.sum), std::move(foremost)});
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const auto& left, const auto& right) { return left.sum.wait_ns > right.sum.wait_ns; });
  return waits;
}

// Wall time starts when initialisation ends, so the time inside MPI leaves initialisation out as well.
bool starts_the_wall_time(std::string_view name) {
  return name == "MPI_Init" || name == "MPI_Init_thread" || name == "MPI_Session_init";
}

RankReport rank_report(const RankRecord& record) {
  RankReport rank{record.identity, record.threads, record.lost_calls, 0, 0};
  for (const CallRecord& call : record.calls)
    if (!starts_the_wall_time(call.name)) rank.time_ns += call.time_ns;
  if (rank.identity.wall_ns > 0)
    rank.mpi_share = static_cast<double>(rank.time_ns) / static_cast<double>(rank.identity.wall_ns);
  return rank;
}

// "0-2, 5 and 3 more"
std::string rank_list(const std::vector<std::int32_t>& ranks) {
  constexpr std::size_t most_ranges = 4;
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t first = 0, last = 0; first < ranks.size(); first = last + 1) {
    if (ranges++ == most_ranges) return text + fmt::format(" and {} more", ranks.size() - first);
    for (last = first; last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1; ++last) {
    }
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[first]);
    if (last > first) text += fmt::format("-{}", ranks[last]);
  }
  return text;
}

// A note if the ranks do not agree on something that makes their numbers hard to compare.
template <typename Value>
void note_difference(Report& report, const char* what, Value value) {
  std::map<std::string, std::vector<std::int32_t>> holders;
  for (const RankReport& rank : report.by_rank) holders[value(rank.identity)].push_back(rank.identity.rank);
  if (holders.size() < 2) return;
  std::string text = fmt::format("ranks differ in {}:", what);
  for (const auto& [held, ranks] : holders)
    text += fmt::format("{} {} (rank {})", &held == &holders.begin()->first ? "" : ";", held.empty() ? "none" : held,
                        rank_list(ranks));
  report.notes.push_back(std::move(text));
}

std::string joined(const RankIdentity& identity) {
  std::string text;
  for (const auto& [variable, value] : identity.settings)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", variable, value);
  return text;
}

void add_notes(Report& report) {
  note_difference(report, "host MPI", [](const RankIdentity& identity) { return identity.host_mpi; });
  note_difference(report, "preload", [](const RankIdentity& identity) { return identity.variant; });
  note_difference(report, "kernels", [](const RankIdentity& identity) { return identity.isa; });
  note_difference(report, "settings", joined);
  std::map<std::string, std::vector<std::int32_t>> ended;
  for (const RankReport& rank : report.by_rank)
    if (!rank.identity.ended_by.empty()) ended[rank.identity.ended_by].push_back(rank.identity.rank);
  for (const auto& [how, ranks] : ended)
    report.notes.push_back(fmt::format("ended by {}, with what was seen until then: rank {}", how, rank_list(ranks)));
  const auto arrived = static_cast<std::int64_t>(report.by_rank.size());
  if (arrived < report.ranks)
    report.notes.push_back(
        fmt::format("{} of {} ranks are missing from this report", report.ranks - arrived, report.ranks));
  std::uint64_t lost = 0;
  for (const RankReport& rank : report.by_rank) lost += rank.lost_calls;
  if (lost > 0) report.notes.push_back(fmt::format("{} calls are not counted: no memory for their thread", lost));
}

}  // namespace

SavedTime saved_by(std::span<const CallReport> calls) {
  SavedTime all;
  double square = 0;
  for (const CallReport& call : calls) {
    all.calls += call.sum.saved.calls;
    all.time_ns += call.sum.saved.time_ns;
    square += call.sum.saved.error_ns * call.sum.saved.error_ns;
  }
  all.error_ns = std::sqrt(square);
  return all;
}

Report merge(std::span<const RankRecord> records) {
  Report report;
  std::set<std::string_view> hosts;
  std::vector<double> wall_ns, time_ns, mpi_share;
  for (const RankRecord& record : records) {
    const RankReport& rank = report.by_rank.emplace_back(rank_report(record));
    report.ranks = std::max(report.ranks, record.identity.ranks);
    hosts.insert(record.identity.host);
    wall_ns.push_back(static_cast<double>(record.identity.wall_ns));
    time_ns.push_back(static_cast<double>(rank.time_ns));
    mpi_share.push_back(rank.mpi_share);
  }
  report.hosts = hosts.size();
  report.wall_ns = spread(std::move(wall_ns), records);
  report.time_ns = spread(std::move(time_ns), records);
  report.mpi_share = spread(std::move(mpi_share), records);
  report.calls = merge_calls(records);
  report.late = merge_late_ranks(records);
  report.waits = merge_waits(records);
  report.peers = merge_peers(records, report.ranks);
  report.regions = merge_regions(records);
  report.phases = merge_phases(records);
  report.communicators = merge_communicators(records);
  std::stable_sort(report.by_rank.begin(), report.by_rank.end(),
                   [](const auto& left, const auto& right) { return left.identity.rank < right.identity.rank; });
  add_notes(report);
  return report;
}

}  // namespace millrace::record
