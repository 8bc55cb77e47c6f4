// What a run did over time, as a report has it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace millrace::tools {

struct RunPhase {
  std::uint64_t calls = 0, bytes = 0;
  std::uint64_t ranks = 0;               // that had not ended
  double mean = 0, least = 0, most = 0;  // share of a rank's time inside MPI
  std::uint64_t most_rank = 0;
};

struct RunPhases {
  double slice_ns = 0;
  std::vector<RunPhase> slices;
};

struct Run;

// Throws what the library or std::runtime_error says of a value that is not as the schema has it. Reports of older
// versions have none.
RunPhases phases_of(const nlohmann::json& report, std::uint64_t ranks);

std::string phases_text(const Run& run);
std::string phases_part(const Run& run);  // of the page

}  // namespace millrace::tools
