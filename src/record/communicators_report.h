// Communicators of all ranks.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "record/communicators.h"

namespace millrace::record {

struct RankRecord;

struct CommunicatorReport {
  CommunicatorRecord sum;      // over ranks; `made`: the most that a rank has used
  std::uint64_t ranks = 0;     // that called on it
  std::uint64_t most_ns = 0;   // in one rank
  std::int32_t most_rank = 0;  // the lowest of those

  bool operator==(const CommunicatorReport&) const = default;
};

// Longest time first, others last; most_communicators and others.
std::vector<CommunicatorReport> merge_communicators(std::span<const RankRecord> records);
nlohmann::ordered_json communicator_values(std::span<const CommunicatorReport> communicators);

// "MPI_COMM_WORLD", "rows (ranks 0-3)", "ranks 0-3"
std::string in_words(const CommunicatorRecord& communicator);
// In at most so many columns, from 16 on: with much of both, for often many have one name.
std::string in_words(const CommunicatorRecord& communicator, std::size_t columns);

}  // namespace millrace::record
