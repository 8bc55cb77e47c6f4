// Parts that a program marked itself, as a report has them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace millrace::tools {

struct RunRegion {
  std::string name;
  std::uint64_t entered = 0, ranks = 0, calls = 0, bytes = 0;
  double mpi_ns = 0, wall_ns = 0;  // of all ranks
  double longest_ns = 0;           // of one
  std::uint64_t longest_rank = 0;
};

struct RunRegions {
  std::uint64_t unbalanced = 0;
  std::vector<RunRegion> all;  // longest first
};

struct Run;

// Throws what the library or std::runtime_error says of a value that is not as the schema has it. Reports of older
// versions have none.
RunRegions regions_of(const nlohmann::json& report, std::uint64_t ranks);

std::string regions_text(const Run& run);
std::string regions_part(const Run& run);  // of the page

}  // namespace millrace::tools
