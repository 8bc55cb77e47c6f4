// Values of a report's file, which anybody may have written.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace millrace::tools {

// What is shown cannot move a terminal's cursor.
std::string without_controls(std::string text);
std::string text_of(const nlohmann::json& value, const char* name);

// Throws std::runtime_error unless it is a whole number from 0 on: of a negative one the library would make a huge one.
std::uint64_t count_of(const nlohmann::json& value);
std::uint64_t count_of(const nlohmann::json& value, const char* name);

}  // namespace millrace::tools
