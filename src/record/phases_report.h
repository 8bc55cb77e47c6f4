// What all ranks did over time.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "record/phases.h"

namespace millrace::record {

struct RankRecord;

// Shares are of the time inside MPI, of a rank, in one slice: above 1 where several threads are inside at once.
struct PhaseReport {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ranks = 0;  // that had not ended before it began
  double mean = 0;
  double least = 0;
  double most = 0;
  std::int32_t most_rank = 0;  // the lowest of those

  bool operator==(const PhaseReport&) const = default;
};

struct PhasesReport {
  std::uint64_t slice_ns = 0;
  std::vector<PhaseReport> slices;  // phase_slices, or none
};

// Of equal parts of the longest rank's time; those of ranks that were shorter are put where they belong. All ranks'
// time begins with the end of their MPI_Init.
PhasesReport merge_phases(std::span<const RankRecord> records);
nlohmann::ordered_json phases_value(const PhasesReport& phases);

}  // namespace millrace::record
