#include "record/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

namespace millrace::record {
namespace {

std::string three_digits(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

std::string scaled(double value, double base, std::span<const char* const> units) {
  std::size_t unit = 0;
  // Rounded before comparing: 999.7 us is "1.00 ms", not "1000 us".
  while (std::round(value) >= base && unit + 1 < units.size()) {
    value /= base;
    ++unit;
  }
  const std::string digits = unit == 0 ? fmt::format("{:.0f}", value) : three_digits(value);
  return *units[unit] ? digits + " " + units[unit] : digits;
}

}  // namespace

std::string scaled_time(double time_ns) {
  static constexpr std::array units{"ns", "us", "ms", "s"};
  return time_ns == 0 ? "0" : scaled(time_ns, 1000, units);
}

std::string scaled_bytes(std::uint64_t bytes) {
  static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return bytes == 0 ? "0" : scaled(static_cast<double>(bytes), 1024, units);
}

std::string scaled_count(std::uint64_t count) {
  static constexpr std::array units{"", "k", "M", "G", "T", "P", "E"};
  return count <= 9999 ? fmt::format("{}", count) : scaled(static_cast<double>(count), 1000, units);
}

std::string percent(double share) {
  const double value = 100 * share;
  if (value > 0 && value < 0.1) return "<0.1 %";
  return fmt::format("{:.{}f} %", value, value < 10 && value > 0 ? 1 : 0);
}

}  // namespace millrace::record
