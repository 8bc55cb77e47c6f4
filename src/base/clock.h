// The clock that every measured call reads twice: it must cost a few nanoseconds, so it counts
// ticks of the time-stamp counter and converts to nanoseconds only when somebody reads the result.
#pragma once

#include <cstdint>
#include <ctime>

namespace millrace {

inline std::uint64_t clock_ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
#endif
}

std::uint64_t monotonic_ns();

// Pairs the tick counter with CLOCK_MONOTONIC at construction; ns_per_tick() compares the two again,
// so its error shrinks with the age of the object (asked sooner than 1 ms after, it waits until then).
class TickScale {
 public:
  TickScale();
  double ns_per_tick() const;

 private:
  std::uint64_t start_ticks_;
  std::uint64_t start_ns_;
};

}  // namespace millrace
