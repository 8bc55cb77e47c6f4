#include "record/phases_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "record/rank_record.h"

namespace millrace::record {
namespace {

using nlohmann::ordered_json;

// Of all slices until now: rounded there, so that the slices add up to the whole.
struct Sums {
  double calls = 0, bytes = 0;
};
// Records of other processes may hold any numbers.
std::uint64_t whole(double number) {
  constexpr double most = 9e18;
  return static_cast<std::uint64_t>(std::llround(std::clamp(number, 0.0, most)));
}
std::uint64_t add(double& sum, double more) {
  const std::uint64_t before = whole(sum);
  sum += more;
  return whole(sum) - before;
}

// The slices of a rank that lie in [begin_ns, end_ns), each with its part.
struct Part {
  double calls = 0, bytes = 0, time_ns = 0, wall_ns = 0;
};
Part part_of(const Phases& phases, double begin_ns, double end_ns) {
  Part part;
  const double slice_ns = static_cast<double>(phases.wall_ns) / phase_slices;
  const auto first = static_cast<std::size_t>(std::clamp(begin_ns / slice_ns, 0.0, double{phase_slices}));
  for (std::size_t slice = first; slice < phase_slices; ++slice) {
    const double from_ns = std::max(begin_ns, static_cast<double>(slice) * slice_ns);
    const double until_ns = std::min(end_ns, static_cast<double>(slice + 1) * slice_ns);
    if (until_ns <= from_ns) {
      if (static_cast<double>(slice) * slice_ns >= end_ns) break;
      continue;
    }
    const double share = (until_ns - from_ns) / slice_ns;
    part.calls += share * static_cast<double>(phases.slices[slice].calls);
    part.bytes += share * static_cast<double>(phases.slices[slice].bytes);
    part.time_ns += share * static_cast<double>(phases.slices[slice].time_ns);
    part.wall_ns += until_ns - from_ns;
  }
  return part;
}

PhaseReport slice_of(std::span<const RankRecord> records, double begin_ns, double end_ns, Sums& sums) {
  PhaseReport report;
  double calls = 0, bytes = 0, shares = 0;
  // The end of a rank may reach into a slice by a rounding alone.
  const double least_ns = (end_ns - begin_ns) / 100;
  for (const RankRecord& record : records) {
    if (record.phases.slices.empty() || record.phases.wall_ns == 0) continue;
    const Part part = part_of(record.phases, begin_ns, end_ns);
    calls += part.calls;
    bytes += part.bytes;
    if (part.wall_ns < least_ns) continue;
    const double share = part.time_ns / part.wall_ns;
    const bool is_first = report.ranks++ == 0;
    shares += share;
    report.least = is_first ? share : std::min(report.least, share);
    if (is_first || share > report.most || (share == report.most && record.identity.rank < report.most_rank)) {
      report.most = share;
      report.most_rank = record.identity.rank;
    }
  }
  report.calls = add(sums.calls, calls);
  report.bytes = add(sums.bytes, bytes);
  if (report.ranks > 0) report.mean = shares / static_cast<double>(report.ranks);
  return report;
}

double rounded(double share) { return std::round(share * 1e4) / 1e4; }

}  // namespace

PhasesReport merge_phases(std::span<const RankRecord> records) {
  std::uint64_t longest_ns = 0;
  for (const RankRecord& record : records)
    if (!record.phases.slices.empty()) longest_ns = std::max(longest_ns, record.phases.wall_ns);
  if (longest_ns < phase_slices) return {};
  PhasesReport report{longest_ns / phase_slices, {}};
  const double slice_ns = static_cast<double>(longest_ns) / phase_slices;
  Sums sums;
  for (std::size_t slice = 0; slice < phase_slices; ++slice)
    report.slices.push_back(
        slice_of(records, static_cast<double>(slice) * slice_ns, static_cast<double>(slice + 1) * slice_ns, sums));
  return report;
}

ordered_json phases_value(const PhasesReport& phases) {
  ordered_json slices = ordered_json::array();
  for (const PhaseReport& slice : phases.slices)
    slices.push_back({{"calls", slice.calls},
                      {"bytes", slice.bytes},
                      {"ranks", slice.ranks},
                      {"mpi_share",
                       {{"mean", rounded(slice.mean)},
                        {"min", rounded(slice.least)},
                        {"max", rounded(slice.most)},
                        {"max_rank", slice.most_rank}}}});
  return {{"slice_ns", phases.slice_ns}, {"slices", std::move(slices)}};
}

}  // namespace millrace::record
