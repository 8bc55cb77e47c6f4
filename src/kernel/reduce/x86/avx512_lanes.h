// The ops that are one or two instructions a vector. The compiler vectorises the generic loop of these just as well,
// but a masked tail in place of its scalar or half-wide ones makes calls of a few hundred bytes faster by a quarter,
// and the code a fifth of the size.
#pragma once

#include "kernel/reduce/x86/avx512.h"

namespace millrace::kernel {
namespace {

template <class T, std::size_t Bytes = 64>
struct LanesOf {
  typedef T type __attribute__((vector_size(Bytes)));
};

// Elementwise on lanes of type T, in the vector types that GCC and clang share.
template <class T, Op op>
struct Lanes : WholeElements<sizeof(T)> {
  template <class V>
  static V lesser(V a, V b) {
    return a < b ? a : b;
  }

  template <class V>
  static V combine(V a, V b) {
    constexpr V ones = V{} + 1;
    if constexpr (op == Op::sum) return a + b;
    if constexpr (op == Op::prod) return a * b;
    if constexpr (op == Op::max) return a > b ? a : b;
    if constexpr (op == Op::min) return lesser(a, b);
    // Of unsigned numbers, the lesser of x and 1 is whether x is not zero.
    if constexpr (op == Op::land) return lesser(lesser(a, b), ones);
    if constexpr (op == Op::lor) return lesser(a | b, ones);
    if constexpr (op == Op::lxor) return lesser(a, ones) ^ lesser(b, ones);
    if constexpr (op == Op::band) return a & b;
    if constexpr (op == Op::bor) return a | b;
    if constexpr (op == Op::bxor) return a ^ b;
  }
  template <std::size_t Bytes, class Vector>
  static Vector apply_to(Vector a, Vector b) {
    using V = typename LanesOf<T, Bytes>::type;
    return __builtin_bit_cast(Vector, combine(__builtin_bit_cast(V, a), __builtin_bit_cast(V, b)));
  }
  static __m512i apply(__m512i a, __m512i b) { return apply_to<64>(a, b); }
  static __m256i apply_half(__m256i a, __m256i b) { return apply_to<32>(a, b); }
};

// LAND with the lesser of b and 1 where a is not zero. Of Intel's two ports for vectors one takes the lesser of two and
// the other tests: with two lessers all of it waits for one. (64-bit lanes gain nothing.)
template <class T>
struct LanesLand : WholeElements<sizeof(T)> {
  static constexpr auto loaded_from = &LoopLimits::loads_apart;
  static __m512i apply(__m512i a, __m512i b) {
    if constexpr (sizeof(T) == 1)
      return _mm512_maskz_min_epu8(_mm512_test_epi8_mask(a, a), b, _mm512_set1_epi8(1));
    else if constexpr (sizeof(T) == 2)
      return _mm512_maskz_min_epu16(_mm512_test_epi16_mask(a, a), b, _mm512_set1_epi16(1));
    else
      return _mm512_maskz_min_epu32(_mm512_test_epi32_mask(a, a), b, _mm512_set1_epi32(1));
  }
};

// PROD of bytes in lanes of two, as in ProdBytes. The compiler would read one of them from memory for each of its uses,
// and two reads a line of what is not in the second-level cache take longer than all the rest: 10 MB on Zen 5 took
// 550 us, and take 400 so, as a SUM does.
struct LanesProdBytes : WholeElements<1> {
  using V = typename LanesOf<std::uint16_t>::type;
  static __m512i apply(__m512i left, __m512i right) {
    asm("" : "+v"(left), "+v"(right));
    const V a = __builtin_bit_cast(V, left), b = __builtin_bit_cast(V, right);
    const V low_byte = V{} + 0xff;
    return __builtin_bit_cast(__m512i, ((a * b) & low_byte) | ((a >> 8) * (b & ~low_byte)));
  }
};

template <class T>
struct Loop<Sum<T>> {
  using type = Vectorwise<Lanes<T, Op::sum>>;
};
template <class T>
struct Loop<Prod<T>> {
  using type = Vectorwise<Lanes<T, Op::prod>>;
};
template <>
struct Loop<ProdBytes<std::uint8_t>> {
  using type = Vectorwise<LanesProdBytes>;
};
template <class T>
struct Loop<Max<T>> {
  using type = Vectorwise<Lanes<T, Op::max>>;
};
template <class T>
struct Loop<Min<T>> {
  using type = Vectorwise<Lanes<T, Op::min>>;
};
template <class T>
struct Loop<LogicalAnd<T>> {
  using type = Vectorwise<Lanes<T, Op::land>>;
};
template <class T>
  requires(sizeof(T) <= 4)
struct Loop<LogicalAnd<T>> {
  using type = Vectorwise<LanesLand<T>>;
};
template <class T>
struct Loop<LogicalOr<T>> {
  using type = Vectorwise<Lanes<T, Op::lor>>;
};
template <class T>
struct Loop<LogicalXor<T>> {
  using type = Vectorwise<Lanes<T, Op::lxor>>;
};
template <class T>
struct Loop<BitAnd<T>> {
  using type = Vectorwise<Lanes<T, Op::band>>;
};
template <class T>
struct Loop<BitOr<T>> {
  using type = Vectorwise<Lanes<T, Op::bor>>;
};
template <class T>
struct Loop<BitXor<T>> {
  using type = Vectorwise<Lanes<T, Op::bxor>>;
};

}  // namespace
}  // namespace millrace::kernel
