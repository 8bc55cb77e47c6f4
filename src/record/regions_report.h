// Regions of all ranks.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "record/regions.h"

namespace millrace::record {

struct RankRecord;

struct RegionReport {
  RegionRecord sum;            // over ranks
  std::uint64_t ranks = 0;     // that were in it
  std::uint64_t most_ns = 0;   // of wall time, in one rank
  std::int32_t most_rank = 0;  // the lowest of those

  bool operator==(const RegionReport&) const = default;
};

struct RegionsReport {
  std::vector<RegionReport> all;  // longest wall time first, others last; most_regions and others
  std::uint64_t unbalanced = 0;
};

RegionsReport merge_regions(std::span<const RankRecord> records);
nlohmann::ordered_json regions_value(const RegionsReport& regions);

}  // namespace millrace::record
