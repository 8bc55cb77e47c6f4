// Who sent how much to whom, as a report has it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace millrace::tools {

// Of two ranks, or of two blocks of ranks by the first of each.
struct RunPair {
  std::uint64_t from = 0, to = 0, messages = 0, bytes = 0;
};

struct RunPeers {
  std::uint64_t messages = 0, bytes = 0, other_messages = 0, other_bytes = 0;
  std::vector<RunPair> foremost;  // of two ranks, most bytes first
  std::uint64_t block_ranks = 1;
  std::vector<RunPair> matrix;
};

struct Run;

// Throws what the library or std::runtime_error says of a value that is not as the schema has it. Reports of older
// versions have none.
RunPeers peers_of(const nlohmann::json& report, std::uint64_t ranks);

std::string peers_text(const Run& run);
std::string peers_part(const Run& run);  // of the page

}  // namespace millrace::tools
