#include "tools/busy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

namespace millrace::tools {
namespace {

struct Ticks {
  std::uint64_t all = 0, idle = 0;
  unsigned processors = 0;
};

// cpu  user nice system idle iowait irq softirq steal ...: guest times are part of user's.
Ticks ticks_of(std::string_view text) {
  Ticks ticks;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (!name.starts_with("cpu")) break;
    if (name != "cpu") {
      ++ticks.processors;
      continue;
    }
    std::uint64_t value = 0;
    for (int place = 0; place < 8 && words >> value; ++place) {
      ticks.all += value;
      if (place == 3 || place == 4) ticks.idle += value;
    }
  }
  return ticks;
}

std::string stat_text() {
  std::ifstream file("/proc/stat");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::optional<double> busy_between(std::string_view before, std::string_view after) {
  const Ticks first = ticks_of(before), second = ticks_of(after);
  if (second.all <= first.all || second.idle < first.idle || second.processors == 0) return std::nullopt;
  const double share = 1 - static_cast<double>(second.idle - first.idle) / static_cast<double>(second.all - first.all);
  return share * second.processors;
}

double busy_processors(int sample_ms) {
  const std::string before = stat_text();
  std::this_thread::sleep_for(std::chrono::milliseconds(sample_ms));
  if (const auto busy = busy_between(before, stat_text())) return *busy;
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

std::string busy_warning(double busy) {
  if (busy < too_busy) return {};
  return fmt::format("others keep {:.1f} processors busy: what is measured now means little; wait until they are done",
                     busy);
}

}  // namespace millrace::tools
