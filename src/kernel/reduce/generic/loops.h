// The loops, written once. Every unit includes this with its own compiler flags, so everything is in an anonymous
// namespace and nothing comes from the STL: an inline function shared by two units would be kept by the linker in one
// of its copies, perhaps the AVX-512 one.
//
// A "loop" class has:  bytes                           size of one element of the MPI type
//                      fold(out, n, first, rest...)    out = first op rest... from the left; `out` may be any of them
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/kernel_set.h"

// Says that iterations are independent, which holds for equal and for disjoint buffers. (__restrict would be a lie for
// out == a.) The scalar unit is the oracle of the others: there the compiler must not vectorise. Four vectors at a time
// where a unit asks for it: counting and jumping cost a loop of one vector more or less, as the op happens to be placed
// (AVX2 on Zen 3, 16 KiB: MAX of 64-bit integers took 1.9 times as long, PROD of double 1.2, SUM of double 1.0).
#if defined(MILLRACE_KERNEL_SCALAR) && defined(__clang__)
#define MILLRACE_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(disable)")
#elif defined(MILLRACE_KERNEL_SCALAR)
#define MILLRACE_INDEPENDENT_ITERATIONS
#elif defined(__clang__)
#define MILLRACE_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(MILLRACE_KERNEL_UNROLLED)
#define MILLRACE_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep") _Pragma("GCC unroll 4")
#else
#define MILLRACE_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

namespace millrace::kernel {
namespace {

// One element in a user's buffer: of any alignment, of any effective type.
template <class T>
struct __attribute__((packed, may_alias)) Cell {
  T value;
};
template <class T>
const Cell<T>* cells(const void* buffer) {
  return static_cast<const Cell<T>*>(buffer);
}
template <class T>
Cell<T>* cells(void* buffer) {
  return static_cast<Cell<T>*>(buffer);
}

// Stores one element; overloaded for elements with gaps, which an assignment might overwrite.
template <class T>
void put(void* buffer, std::size_t i, T value) {
  cells<T>(buffer)[i].value = value;
}

// Loop over F::Element with F::apply.
template <class F>
struct Elementwise {
  using Element = typename F::Element;
  static constexpr std::size_t bytes = sizeof(Element);

  template <class... Rest>
  static void fold(void* out, std::size_t n, const void* first, const Rest*... rest) {
    MILLRACE_INDEPENDENT_ITERATIONS
    for (std::size_t i = 0; i < n; ++i) {
      Element accumulated = cells<Element>(first)[i].value;
      ((accumulated = F::apply(accumulated, cells<Element>(rest)[i].value)), ...);
      put(out, i, accumulated);
    }
  }
};

// The loop class that a unit uses for F. Specialised where the compiler needs help.
template <class F>
struct Loop {
  using type = Elementwise<F>;
};

// Loop over words that hold two elements, with F::apply_word; an odd last element by F::apply.
template <class F>
struct Wordwise {
  using Element = typename F::Element;
  using Word = typename F::Word;
  static constexpr std::size_t bytes = sizeof(Element);

  template <class... Rest>
  static void fold(void* out, std::size_t n, const void* first, const Rest*... rest) {
    const std::size_t words = n / 2;
    MILLRACE_INDEPENDENT_ITERATIONS
    for (std::size_t i = 0; i < words; ++i) {
      Word accumulated = cells<Word>(first)[i].value;
      ((accumulated = F::apply_word(accumulated, cells<Word>(rest)[i].value)), ...);
      cells<Word>(out)[i].value = accumulated;
    }
    if (n % 2 == 0) return;
    const std::size_t last = n - 1;
    Element accumulated = cells<Element>(first)[last].value;
    ((accumulated = F::apply(accumulated, cells<Element>(rest)[last].value)), ...);
    cells<Element>(out)[last].value = accumulated;
  }
};

// An element of two parts, each combined by itself.
template <class L>
struct TwoParts {
  static constexpr std::size_t bytes = 2 * L::bytes;

  template <class... Rest>
  static void fold(void* out, std::size_t n, const void* first, const Rest*... rest) {
    L::fold(out, 2 * n, first, rest...);
  }
};

// The loop class for arrays of from_bytes and more: the same one, unless a unit says another. That one may say
// two_inputs_only.
template <class L>
struct ForLongArrays {
  using type = L;
  static std::size_t from_bytes() { return 0; }
};

template <class L>
  requires(!__is_same(typename ForLongArrays<L>::type, L))
struct ForLongArrays<TwoParts<L>> {
  using type = TwoParts<typename ForLongArrays<L>::type>;
  static std::size_t from_bytes() { return ForLongArrays<L>::from_bytes(); }
};
template <class L>
inline constexpr bool takes_two_inputs_only = requires { L::two_inputs_only; };
template <class L>
inline constexpr bool takes_two_inputs_only<TwoParts<L>> = takes_two_inputs_only<L>;

// Ops of many instructions an element: passes over five to seven inputs at once are slower there than over four and
// then over the rest (0.85 of the speed on Zen 5, whatever the unit). Elsewhere they are faster, from the first-level
// cache 1.04 to 1.2 times, from memory 1.1 to 1.4.
template <class F>
inline constexpr bool is_long_op = false;

// The three forms of one loop class.
template <class L, bool long_op = false>
struct Forms {
  using LongLoop = typename ForLongArrays<L>::type;
  using Long = Forms<LongLoop, long_op>;
  static constexpr bool differs_for_long_arrays = !__is_same(LongLoop, L);
  static bool is_long(std::size_t n) { return n * L::bytes >= ForLongArrays<L>::from_bytes(); }

  static void reduce2(const void* in, void* inout, std::size_t n) {
    if constexpr (differs_for_long_arrays)
      if (is_long(n)) return Long::reduce2(in, inout, n);
    L::fold(inout, n, in, inout);
  }
  static void reduce3(const void* a, const void* b, void* out, std::size_t n) {
    if constexpr (differs_for_long_arrays)
      if (is_long(n)) return Long::reduce3(a, b, out, n);
    L::fold(out, n, a, b);
  }

  template <class... Inputs>
  __attribute__((noinline)) static void fold(void* out, std::size_t n, const Inputs*... inputs) {
    L::fold(out, n, inputs...);
  }

  template <class... Inputs>
  static void fold_more(void* out, std::size_t n, const Inputs*... inputs) {
    if constexpr (!long_op) fold(out, n, inputs...);
  }

  // Inputs are folded in groups; the block of `out` between two groups stays in the first-level cache, so memory is
  // read once per input and written once.
  static constexpr std::size_t block_elements = 8192 / L::bytes;

  static void reduce_n(const void* const* inputs, std::size_t count, void* out, std::size_t n) {
    if constexpr (differs_for_long_arrays && !takes_two_inputs_only<LongLoop>)
      if (is_long(n)) return Long::reduce_n(inputs, count, out, n);
    for (std::size_t begin = 0; begin < n; begin += block_elements) {
      const std::size_t block = n - begin < block_elements ? n - begin : block_elements;
      fold_block(inputs, count, begin * L::bytes, static_cast<char*>(out) + begin * L::bytes, block);
    }
  }

  static void fold_block(const void* const* inputs, std::size_t count, std::size_t offset, void* out, std::size_t n) {
    const auto at = [=](std::size_t input) -> const void* { return static_cast<const char*>(inputs[input]) + offset; };
    std::size_t used = count >= 8 ? 8 : long_op && count >= 4 ? 4 : count;
    switch (used) {
      case 8: fold(out, n, at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)); break;
      case 7: fold_more(out, n, at(0), at(1), at(2), at(3), at(4), at(5), at(6)); break;
      case 6: fold_more(out, n, at(0), at(1), at(2), at(3), at(4), at(5)); break;
      case 5: fold_more(out, n, at(0), at(1), at(2), at(3), at(4)); break;
      case 4: fold(out, n, at(0), at(1), at(2), at(3)); break;
      case 3: fold(out, n, at(0), at(1), at(2)); break;
      case 2: reduce3(at(0), at(1), out, n); break;
      default: fold(out, n, at(0)); break;
    }
    const void* sofar = out;
    for (; count - used >= 7; used += 7)
      fold(out, n, sofar, at(used), at(used + 1), at(used + 2), at(used + 3), at(used + 4), at(used + 5), at(used + 6));
    for (; count - used >= 3; used += 3) fold(out, n, sofar, at(used), at(used + 1), at(used + 2));
    for (; count - used >= 2; used += 2) fold(out, n, sofar, at(used), at(used + 1));
    if (used < count) reduce3(sofar, at(used), out, n);
  }
};

}  // namespace
}  // namespace millrace::kernel
