// Says what a plan would run, and why (millrace --explain).
#pragma once

#include <string>

#include "tools/launch.h"

namespace millrace::tools {

std::string explain(const Plan& plan, const Request& request);

}  // namespace millrace::tools
