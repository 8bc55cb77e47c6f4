// One element of every op. These expressions are the semantics (docs/semantics.md): each unit compiles the same ones,
// in vector body and tail. `a` is the left operand (`in`), `b` the right one (`inout`).
#pragma once

#include "kernel/reduce/element_types.h"

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
    return a != a ? a : greater;
  }
};
template <class T>
struct Min {
  using Element = T;
  static T apply(T a, T b) {
    const T less = a < b ? a : b;
    return a != a ? a : less;
  }
};

// ---- 16-bit floats: arithmetic in f32, one rounding. MAX and MIN compare as integers, twice as many to a vector.

template <class H>
struct Sum16 {
  using Element = H;
  static H apply(H a, H b) { return H::from_float(H::to_float(a) + H::to_float(b)); }
};
template <class H>
struct Prod16 {
  using Element = H;
  static H apply(H a, H b) { return H::from_float(H::to_float(a) * H::to_float(b)); }
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
struct ComplexProd {
  using Element = Complex<T>;
  static Element apply(Element a, Element b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
};
template <class H>
struct ComplexProd16 {
  using Element = Complex<H>;
  static Element apply(Element a, Element b) {
    const Complex<float> left{H::to_float(a.re), H::to_float(a.im)};
    const Complex<float> right{H::to_float(b.re), H::to_float(b.im)};
    const Complex<float> product = ComplexProd<float>::apply(left, right);
    return {H::from_float(product.re), H::from_float(product.im)};
  }
};

}  // namespace
}  // namespace millrace::kernel
