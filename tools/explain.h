// Says what a plan would run, and why (millrace --explain).
#pragma once

#include <string>
#include <vector>

#include "tools/launch.h"

namespace millrace::tools {

std::string explain(const Plan& plan, const Request& request);
// The same of words that are run as they are.
std::string explain_words(const std::vector<std::string>& words);

}  // namespace millrace::tools
