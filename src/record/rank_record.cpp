#include "record/rank_record.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>

#include "base/clock.h"
#include "record/size_class.h"
#include "record/snapshot.h"

namespace millrace::record {
namespace {

std::string entry_name(const Names& names, std::uint16_t entry) {
  if (entry < names.entry.size() && names.entry[entry]) return names.entry[entry];
  return "entry " + std::to_string(entry);
}

std::string algorithm_name(const Names& names, std::uint16_t algorithm) {
  const char* name = names.algorithm ? names.algorithm(algorithm) : nullptr;
  return name ? name : "algorithm " + std::to_string(algorithm);
}

std::uint64_t to_ns(std::uint64_t ticks, double ns_per_tick) {
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(ticks) * ns_per_tick));
}

// MPICH answers a page with its compiler flags; the first line names the library. Tabs would break the table.
std::string first_line(std::string_view text) {
  std::string line(text.substr(0, text.find('\n')));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

}  // namespace

std::uint64_t CallRecord::calls() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : outcome) sum += count;
  return sum;
}

void add_size(std::vector<SizeRecord>& sizes, const SizeRecord& size) {
  const auto place = std::ranges::lower_bound(sizes, size.least_bytes, {}, &SizeRecord::least_bytes);
  if (place == sizes.end() || place->least_bytes != size.least_bytes) {
    sizes.insert(place, size);
    return;
  }
  place->calls += size.calls;
  place->taken += size.taken;
  place->bytes += size.bytes;
  place->time_ns += size.time_ns;
}

std::vector<LateRank> by_rank(std::span<const WaitRecord> calls) {
  std::map<std::int32_t, LateRank> sums;
  for (const WaitRecord& call : calls)
    for (const LateRank& late : call.for_rank) {
      LateRank& sum = sums[late.rank];
      sum = {late.rank, sum.calls + late.calls, sum.wait_ns + late.wait_ns};
    }
  std::vector<LateRank> ranks;
  ranks.reserve(sums.size());
  for (const auto& [rank, sum] : sums) ranks.push_back(sum);
  return ranks;
}

void keep_foremost(std::vector<LateRank>& ranks) {
  constexpr std::size_t most = 8;
  if (ranks.size() <= 2 * most) return;
  const auto foremost = ranks.begin() + most;
  std::ranges::stable_sort(ranks, std::greater(), &LateRank::wait_ns);
  std::stable_sort(foremost, ranks.end(), [](const auto& left, const auto& right) { return left.calls > right.calls; });
  ranks.resize(2 * most);
}

RankRecord this_rank(const RankIdentity& identity, const Names& names, const Findings& findings, double ns_per_tick) {
  const Snapshot counted = snapshot();
  RankRecord record{identity,
                    counted.threads,
                    counted.lost_calls,
                    {},
                    findings.waits,
                    peers_until_now(),
                    regions_until_now(ns_per_tick),
                    communicators_until_now(ns_per_tick),
                    phases_until_now(clock_ticks(), ns_per_tick)};
  keep_foremost(record.peers);
  record.identity.host_mpi = first_line(identity.host_mpi);
  auto pair = counted.pairs.begin();  // both lists are ordered by entry
  for (const EntrySnapshot& entry : counted.entries) {
    CallRecord call{
        entry_name(names, entry.entry), entry.bytes, to_ns(entry.ticks, ns_per_tick), entry.outcome, {}, {}, {}};
    for (const SizeSnapshot& size : entry.sizes)
      call.sizes.push_back(
          {least_bytes_of(size.size_class), size.calls, size.taken, size.bytes, to_ns(size.ticks, ns_per_tick)});
    while (pair != counted.pairs.end() && pair->entry < entry.entry) ++pair;
    for (; pair != counted.pairs.end() && pair->entry == entry.entry; ++pair)
      call.algorithms.push_back(
          {algorithm_name(names, pair->algorithm), pair->calls, pair->bytes, to_ns(pair->ticks, ns_per_tick)});
    for (const EntrySaving& saving : findings.savings)
      if (saving.entry == entry.entry) call.saved = saving.saved;
    record.calls.push_back(std::move(call));
  }
  return record;
}

std::vector<std::byte> pack_rank_record(const RankIdentity& identity, const Names& names, const Findings& findings,
                                        double ns_per_tick) noexcept {
  try {
    return pack(this_rank(identity, names, findings, ns_per_tick));
  } catch (...) {
    return {};
  }
}

}  // namespace millrace::record
