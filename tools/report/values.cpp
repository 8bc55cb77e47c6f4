#include "tools/report/values.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace millrace::tools {

using nlohmann::json;

std::string without_controls(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char letter) { return std::iscntrl(letter) != 0; }, ' ');
  return text;
}

std::string text_of(const json& value, const char* name) { return without_controls(value.at(name).get<std::string>()); }

std::uint64_t count_of(const json& value) {
  if (!value.is_number_unsigned()) throw std::runtime_error("a count is no whole number from 0 on");
  return value.get<std::uint64_t>();
}

std::uint64_t count_of(const json& value, const char* name) { return count_of(value.at(name)); }

}  // namespace millrace::tools
