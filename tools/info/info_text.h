// The page of `millrace info`, from the same data as its JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace millrace::tools {

std::string info_text(const nlohmann::ordered_json& info);

}  // namespace millrace::tools
