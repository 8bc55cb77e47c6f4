// How the calls of one name come apart by their bytes.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace millrace::tools {

// Calls that post from `least_bytes` to less than twice as much; 0: nothing.
struct RunSize {
  std::uint64_t least_bytes = 0;
  std::uint64_t calls = 0, taken = 0, bytes = 0;
  double time_ns = 0;  // of all ranks
};

// Of a call in a report; reports of older versions have none. Throws what the library throws.
std::vector<RunSize> sizes_of(const nlohmann::json& call);

// "sizes: 64 KiB 90 % of the time (1.20 k calls), 8 B 9 % (12.0 k), 2 more 1 %": the longest first; "" if all calls
// are of one size.
std::string sizes_in_words(const std::vector<RunSize>& sizes);

// A column for each size from the least to the greatest, as high as its share of the time; "" as above.
std::string sizes_strip(const std::vector<RunSize>& sizes);

}  // namespace millrace::tools
