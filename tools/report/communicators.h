// What was done on which communicator, as a report has it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace millrace::tools {

struct RunCommunicator {
  std::string name, ranks;    // either may be empty
  std::uint64_t size = 0;     // 0 of what is left of many
  std::uint64_t made = 0;     // alike, in one rank
  std::uint64_t callers = 0;  // ranks
  std::uint64_t calls = 0, taken = 0, bytes = 0;
  double time_ns = 0;     // of all ranks
  double longest_ns = 0;  // of one
  std::uint64_t longest_rank = 0;
};

struct Run;

// Throws what the library or std::runtime_error says of a value that is not as the schema has it. Reports of older
// versions have none.
std::vector<RunCommunicator> communicators_of(const nlohmann::json& report, std::uint64_t ranks);

// Nothing of a program that has used one alone: the calls say the same.
std::string communicators_text(const Run& run);
std::string communicators_part(const Run& run);  // of the page

}  // namespace millrace::tools
