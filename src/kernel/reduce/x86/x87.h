// MAX and MIN of x87 extended floats. Storing 80 bits takes the processor longer than everything else here, so the
// winner is only found in a floating-point register and copied as the integers that it is in memory.
#pragma once

#include "kernel/reduce/generic/loops.h"
#include "kernel/reduce/generic/ops.h"

#if MILLRACE_KERNEL_HAS_F80
namespace millrace::kernel {
namespace {

template <bool Greater>
struct ExtremeF80 {
  static constexpr std::size_t bytes = sizeof(F80);

  // The address of a op b, one comparison for both questions: is it greater, is there a NaN?
  static const char* choose(const char* a, const char* b) {
    const F80 left = cells<F80>(a)->value, right = cells<F80>(b)->value;
    const F80 top = Greater ? left : right, other = Greater ? right : left;
    bool a_loses, unordered;
    asm("fucomip %%st(1), %%st" : "=@ccbe"(a_loses), "=@ccp"(unordered) : "t"(top), "u"(other) : "st");
    if (__builtin_expect(unordered, 0)) return left != left ? a : b;
    // Not a choice that a compiler could make a branch: values are as good as random.
    const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(a), instead = reinterpret_cast<std::uintptr_t>(b);
    return reinterpret_cast<const char*>(from ^ ((from ^ instead) & (std::uintptr_t{0} - a_loses)));
  }

  template <class... Rest>
  static void fold(void* out, std::size_t n, const void* first, const Rest*... rest) {
    for (std::size_t at = 0; at < n * bytes; at += bytes) {
      const char* best = static_cast<const char*>(first) + at;
      ((best = choose(best, static_cast<const char*>(rest) + at)), ...);
      const std::uint64_t significand = cells<std::uint64_t>(best)->value;
      const std::uint16_t exponent = cells<std::uint16_t>(best + 8)->value;
      char* const to = static_cast<char*>(out) + at;
      cells<std::uint64_t>(to)->value = significand;
      cells<std::uint16_t>(to + 8)->value = exponent;
    }
  }
};

template <>
struct Loop<Max<F80>> {
  using type = ExtremeF80<true>;
};
template <>
struct Loop<Min<F80>> {
  using type = ExtremeF80<false>;
};

}  // namespace
}  // namespace millrace::kernel
#endif
