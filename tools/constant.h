// Integers as they stand in a program: sums and products of numbers, names whose value is known, and sizeof.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::tools {

std::string lower_case(std::string_view text);

struct Constant {
  std::optional<std::int64_t> value;
  std::string complaint;  // one line, if there is no value
};

// `values`: by name in lower case, as they were written.
Constant constant_value(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace millrace::tools
