// Lines on standard error, each written with one write(2) so that ranks do not cut into one another.
#pragma once

#include <string_view>

namespace millrace {

enum class LogLevel { off, error, warning, info, debug };

void set_log_level(LogLevel level);
LogLevel log_level();
LogLevel log_level_of(std::string_view name);  // of a value of MILLRACE_LOG; `warning` for anything else

// Writes "millrace: <level>: <message>\n" if the level is wanted. Never throws, never allocates more than the line.
void log(LogLevel level, std::string_view message);

}  // namespace millrace
