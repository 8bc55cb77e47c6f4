// One element of every op. These expressions are the semantics (docs/semantics.md): each unit compiles the same ones,
// in vector body and tail. `a` is the left operand (`in`), `b` the right one (`inout`).
#pragma once

#include "kernel/reduce/generic/element_types.h"
#include "kernel/reduce/generic/loops.h"

namespace millrace::kernel {
namespace {

// ---- integers (unsigned: wraps; two's complement makes the bits those of the signed op)

template <class U>
struct Sum {
  using Element = U;
  static U apply(U a, U b) {
    using W = typename Wide<U>::type;
    return static_cast<U>(static_cast<W>(a) + static_cast<W>(b));
  }
};
template <class U>
struct Prod {
  using Element = U;
  static U apply(U a, U b) {
    using W = typename Wide<U>::type;
    return static_cast<U>(static_cast<W>(a) * static_cast<W>(b));
  }
};
template <class U>
struct LogicalAnd {
  using Element = U;
  static U apply(U a, U b) { return static_cast<U>((a != 0) & (b != 0)); }
};
template <class U>
struct LogicalOr {
  using Element = U;
  static U apply(U a, U b) { return static_cast<U>((a | b) != 0); }
};
template <class U>
struct LogicalXor {
  using Element = U;
  static U apply(U a, U b) { return static_cast<U>((a != 0) != (b != 0)); }
};
template <class U>
struct BitAnd {
  using Element = U;
  static U apply(U a, U b) { return static_cast<U>(a & b); }
};
template <class U>
struct BitOr {
  using Element = U;
  static U apply(U a, U b) { return static_cast<U>(a | b); }
};
template <class U>
struct BitXor {
  using Element = U;
  static U apply(U a, U b) { return static_cast<U>(a ^ b); }
};

// ---- integers and floating point. A NaN operand is the result, the left one if both are; equal operands (also zeros
// of different sign) give the right one.

template <class T>
struct Max {
  using Element = T;
  static T apply(T a, T b) {
    const T greater = a > b ? a : b;  // b if either is NaN
    return a != a ? a : greater;      // NOLINT(misc-redundant-expression)
  }
};
template <class T>
struct Min {
  using Element = T;
  static T apply(T a, T b) {
    const T less = a < b ? a : b;
    return a != a ? a : less;  // NOLINT(misc-redundant-expression)
  }
};

// ---- two elements to a word of twice their size: what the compiler cannot do well on narrow lanes

// PROD of bytes: no instruction set multiplies them.
template <class U>
struct ProdBytes {
  using Element = U;
  using Word = std::uint16_t;
  static Element apply(Element a, Element b) { return Prod<Element>::apply(a, b); }
  static Word apply_word(Word a, Word b) {
    const std::uint32_t low = static_cast<std::uint32_t>(a) * b;
    const std::uint32_t high = static_cast<std::uint32_t>(a >> 8) * (b & 0xff00u);
    return static_cast<Word>((low & 0xffu) | (high & 0xff00u));
  }
};

// 16-bit floats: arithmetic in f32, one rounding. MAX and MIN compare as integers, twice as many to a vector.
template <class H, Op op>
struct Arithmetic16 {
  using Element = std::uint16_t;
  using Word = std::uint32_t;
  static std::uint32_t apply_low(std::uint32_t a, std::uint32_t b) {
    const float left = H::widen(a), right = H::widen(b);
    return H::narrow(op == Op::sum ? left + right : left * right);
  }
  static Element apply(Element a, Element b) { return static_cast<Element>(apply_low(a, b)); }
  static Word apply_word(Word a, Word b) {
    return apply_low(a & 0xffffu, b & 0xffffu) | (apply_low(a >> 16, b >> 16) << 16);
  }
};

// An order-preserving map to integers: both zeros map to 0.
inline std::int16_t order16(std::uint16_t bits) {
  const std::uint16_t sign = static_cast<std::uint16_t>(-(bits >> 15));  // 0 or 0xffff
  const std::uint16_t magnitude = bits & 0x7fffu;
  return static_cast<std::int16_t>(static_cast<std::uint16_t>((magnitude ^ sign) - sign));
}
template <class H, bool Greater>
struct Extreme16 {
  using Element = std::uint16_t;
  static std::uint16_t apply(std::uint16_t a, std::uint16_t b) {
    const bool a_is_nan = (a & 0x7fffu) > H::infinity;
    const bool b_is_nan = (b & 0x7fffu) > H::infinity;
    const bool a_is_better = Greater ? order16(a) > order16(b) : order16(a) < order16(b);
    return a_is_nan | (a_is_better & !b_is_nan) ? a : b;
  }
};

// ---- complex. SUM is the SUM of the parts. PROD is the textbook formula, without fused multiply-add.

template <class T>
void put(void* buffer, std::size_t i, Complex<T> value) {
  cells<T>(buffer)[2 * i].value = value.re;
  cells<T>(buffer)[2 * i + 1].value = value.im;
}

template <class T>
struct ComplexProd {
  using Element = Complex<T>;
  static Element apply(Element a, Element b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
};
template <class H>
struct ComplexProd16 {
  using Element = std::uint32_t;  // the real part in the low half
  static Element apply(Element a, Element b) {
    const float a_re = H::widen(a & 0xffffu), a_im = H::widen(a >> 16);
    const float b_re = H::widen(b & 0xffffu), b_im = H::widen(b >> 16);
    return H::narrow(a_re * b_re - a_im * b_im) | (H::narrow(a_re * b_im + a_im * b_re) << 16);
  }
};

}  // namespace
}  // namespace millrace::kernel
