// The rounding mode and its relatives (flush-to-zero, denormals-are-zero, x87 precision) of a thread. A part of a
// reduction has to run in the mode of the thread that called it: the bits of the result depend on it.
// <cfenv> would do it with libm.
#pragma once

#include <cstdint>

namespace millrace::threads {

struct FloatMode {
#if defined(__x86_64__)
  std::uint32_t mxcsr = 0;
  std::uint16_t x87 = 0;
#else
  std::uint64_t fpcr = 0;
#endif
};

inline FloatMode float_mode() {
  FloatMode mode;
#if defined(__x86_64__)
  asm volatile("stmxcsr %0" : "=m"(mode.mxcsr));
  asm volatile("fnstcw %0" : "=m"(mode.x87));
#elif defined(__aarch64__)
  asm volatile("mrs %0, fpcr" : "=r"(mode.fpcr));
#endif
  return mode;
}

inline void set_float_mode(const FloatMode& mode) {
#if defined(__x86_64__)
  asm volatile("ldmxcsr %0" : : "m"(mode.mxcsr));
  asm volatile("fldcw %0" : : "m"(mode.x87));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" : : "r"(mode.fpcr));
#else
  static_cast<void>(mode);
#endif
}

}  // namespace millrace::threads
