// The two forms in which `millrace report` shows one run or two.
#pragma once

#include <string>
#include <vector>

#include "tools/report/run.h"

namespace millrace::tools {

std::string report_text(const std::vector<Run>& runs);  // lines of at most 80 columns
std::string report_page(const std::vector<Run>& runs);  // HTML that needs nothing else

// Parts of the page.
std::string ranks_part(const Run& run);
std::string calls_part(const Run& run);
std::string versus_part(const Run& first, const Run& second);

}  // namespace millrace::tools
