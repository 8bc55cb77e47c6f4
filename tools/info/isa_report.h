// Instruction sets as the kernels see them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace millrace::tools {

struct IsaReport {
  // {"chosen", "vector_bits", "why", "units": [{"name", "vector_bits", "present", "usable", "why"}]}
  nlohmann::ordered_json json;
  std::string complaint;  // about the setting; empty if it was followed
};

IsaReport report_isa(const std::string& setting);

}  // namespace millrace::tools
