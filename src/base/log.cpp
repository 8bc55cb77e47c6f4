#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <cstring>

namespace millrace {
namespace {

std::atomic<LogLevel> wanted_level{LogLevel::warning};

const char* level_prefix(LogLevel level) {
  switch (level) {
    case LogLevel::error: return "millrace: error: ";
    case LogLevel::warning: return "millrace: warning: ";
    case LogLevel::debug: return "millrace: debug: ";
    case LogLevel::info:
    case LogLevel::off: break;
  }
  return "millrace: ";
}

}  // namespace

void set_log_level(LogLevel level) { wanted_level.store(level, std::memory_order_relaxed); }
LogLevel log_level() { return wanted_level.load(std::memory_order_relaxed); }

LogLevel log_level_of(std::string_view name) {
  if (name == "off") return LogLevel::off;
  if (name == "error") return LogLevel::error;
  if (name == "info") return LogLevel::info;
  if (name == "debug") return LogLevel::debug;
  return LogLevel::warning;
}

void log(LogLevel level, std::string_view message) {
  if (level == LogLevel::off || level > log_level()) return;
  char line[1024];  // longer messages are cut: a log line is one line
  const char* prefix = level_prefix(level);
  const std::size_t prefix_length = std::strlen(prefix);
  std::memcpy(line, prefix, prefix_length);  // NOLINT(bugprone-not-null-terminated-result)
  const std::size_t room = sizeof line - prefix_length - 1;
  const std::size_t length = message.size() < room ? message.size() : room;
  std::memcpy(line + prefix_length, message.data(), length);
  line[prefix_length + length] = '\n';
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line, prefix_length + length + 1);
}

}  // namespace millrace
