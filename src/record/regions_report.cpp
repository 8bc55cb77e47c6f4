#include "record/regions_report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "record/rank_record.h"

namespace millrace::record {
namespace {

using nlohmann::ordered_json;

void add(RegionRecord& sum, const RegionRecord& more) {
  sum.entered += more.entered;
  sum.calls += more.calls;
  sum.bytes += more.bytes;
  sum.time_ns += more.time_ns;
  sum.wall_ns += more.wall_ns;
}

void add(RegionReport& sum, const RegionRecord& more, std::int32_t rank) {
  add(sum.sum, more);
  if (sum.ranks++ == 0 || more.wall_ns > sum.most_ns || (more.wall_ns == sum.most_ns && rank < sum.most_rank)) {
    sum.most_ns = more.wall_ns;
    sum.most_rank = rank;
  }
}

// Ranks may have regions of their own each. How many ranks were in any of several is then not known: of one, the most.
void put_into_others(RegionReport& others, const RegionReport& region) {
  add(others.sum, region.sum);
  others.ranks = std::max(others.ranks, region.ranks);
  if (region.most_ns > others.most_ns) {
    others.most_ns = region.most_ns;
    others.most_rank = region.most_rank;
  }
}

}  // namespace

RegionsReport merge_regions(std::span<const RankRecord> records) {
  std::map<std::string, RegionReport, std::less<>> by_name;
  RegionsReport report;
  for (const RankRecord& record : records) {
    report.unbalanced += record.regions.unbalanced;
    for (const RegionRecord& region : record.regions.all) {
      RegionReport& sum = by_name[region.name];
      sum.sum.name = region.name;
      add(sum, region, record.identity.rank);
    }
  }
  RegionReport others;
  others.sum.name = other_regions;
  if (const auto found = by_name.find(other_regions); found != by_name.end()) {
    others = found->second;
    by_name.erase(found);
  }
  for (auto& [name, region] : by_name) report.all.push_back(std::move(region));
  std::stable_sort(report.all.begin(), report.all.end(),
                   [](const auto& left, const auto& right) { return left.sum.wall_ns > right.sum.wall_ns; });
  for (std::size_t index = most_regions; index < report.all.size(); ++index) put_into_others(others, report.all[index]);
  report.all.resize(std::min(report.all.size(), most_regions));
  if (others.sum.entered > 0) report.all.push_back(std::move(others));
  return report;
}

ordered_json regions_value(const RegionsReport& regions) {
  ordered_json all = ordered_json::array();
  for (const RegionReport& region : regions.all)
    all.push_back({{"name", region.sum.name},
                   {"entered", region.sum.entered},
                   {"ranks", region.ranks},
                   {"calls", region.sum.calls},
                   {"bytes", region.sum.bytes},
                   {"mpi_ns", region.sum.time_ns},
                   {"wall_ns", region.sum.wall_ns},
                   {"longest", {{"wall_ns", region.most_ns}, {"rank", region.most_rank}}}});
  return {{"unbalanced", regions.unbalanced}, {"all", std::move(all)}};
}

}  // namespace millrace::record
