#include "base/clock.h"

namespace millrace {

std::uint64_t monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

TickScale::TickScale() : start_ticks_(clock_ticks()), start_ns_(monotonic_ns()) {}

double TickScale::ns_per_tick() const {
  constexpr std::uint64_t least_age_ns = 1'000'000;
  std::uint64_t now_ns = monotonic_ns();
  while (now_ns - start_ns_ < least_age_ns) now_ns = monotonic_ns();
  const std::uint64_t now_ticks = clock_ticks();
  return static_cast<double>(now_ns - start_ns_) / static_cast<double>(now_ticks - start_ticks_);
}

}  // namespace millrace
