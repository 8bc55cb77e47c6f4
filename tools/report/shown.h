// The two forms in which `millrace report` shows one run or two.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/report/run.h"

namespace millrace::tools {

std::string report_text(const std::vector<Run>& runs);  // lines of at most 80 columns
std::string report_page(const std::vector<Run>& runs);  // HTML that needs nothing else

// Ranks that have a bar each; of more there is a map.
inline constexpr std::uint64_t most_bars = 16;

// Parts of the page.
std::string ranks_part(const Run& run);
std::string calls_part(const Run& run);
std::string waits_part(const Run& run);
std::string versus_part(const Run& first, const Run& second);

// A square for each rank, the darker the greater its share of the greatest; without a value there is no record.
struct RankCell {
  double share = 0;
  std::string title;
};
std::string rank_map(const Run& run, const char* label_text, const std::string& most_text,
                     const std::function<std::optional<RankCell>(std::uint64_t)>& cell_of);

}  // namespace millrace::tools
