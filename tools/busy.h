// Whether others use the machine while something is measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace millrace::tools {

// Processors' worth of work done between two texts of /proc/stat; nothing if they do not tell.
std::optional<double> busy_between(std::string_view before, std::string_view after);

// The same of the next `sample_ms`, in which the caller does nothing: what others do. Where /proc/stat stands still, as
// in some containers, the load average of the last minute.
double busy_processors(int sample_ms);

// From here on figures suffer.
inline constexpr double too_busy = 0.5;

// One line for standard error, "" if the machine is idle enough.
std::string busy_warning(double busy);

}  // namespace millrace::tools
