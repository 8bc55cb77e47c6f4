// Numbers as people read them, with three significant digits: "1.23 us", "45.6 MiB", "789 k".
#pragma once

#include <cstdint>
#include <string>

namespace millrace::record {

std::string scaled_time(double time_ns);
std::string scaled_bytes(std::uint64_t bytes);
std::string scaled_count(std::uint64_t count);  // exact up to 9999
std::string percent(double share);              // of 1

}  // namespace millrace::record
