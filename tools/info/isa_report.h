// Instruction sets as the kernels see them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace millrace::tools {

// What ordered_json does when it is moved or destroyed might throw, says clang-tidy; it is noexcept.
// NOLINTNEXTLINE(bugprone-exception-escape)
struct IsaReport {
  // {"chosen", "vector_bits", "why", "units": [{"name", "vector_bits", "present", "usable", "why"}]}
  nlohmann::ordered_json json;
  std::string complaint;  // about the setting; empty if it was followed
};

IsaReport report_isa(const std::string& setting);

}  // namespace millrace::tools
