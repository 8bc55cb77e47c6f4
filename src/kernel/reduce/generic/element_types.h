// Element types that C++ has no name for, and their arithmetic in terms of types it has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::kernel {
namespace {

// Arithmetic in unsigned types of at least int's width wraps; in anything narrower it is promoted to int and may
// overflow (65535 * 65535).
template <class T>
struct Wide {
  using type = T;
};
template <>
struct Wide<std::uint8_t> {
  using type = std::uint32_t;
};
template <>
struct Wide<std::uint16_t> {
  using type = std::uint32_t;
};

using I128 = __int128;
using U128 = unsigned __int128;
#if defined(__x86_64__)
#define MILLRACE_KERNEL_HAS_F80 1
using F80 = long double;
using F128 = __float128;
#else
#define MILLRACE_KERNEL_HAS_F80 0
using F128 = long double;
#endif

template <class T>
struct Complex {
  T re, im;
};

inline std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }
inline float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

// 16-bit floats travel in the low half of a 32-bit integer, the lane in which a vector computes on them. Conversions
// are integer arithmetic without branches, so that they vectorise where the instruction set has no conversion and do
// not depend on the program's denormals-are-zero mode. Narrowing rounds to nearest, ties to even.

// IEEE binary16.
struct F16 {
  std::uint16_t bits;
  static constexpr std::uint16_t infinity = 0x7c00;

  static float widen(std::uint32_t half) {
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t magnitude = half & 0x7fffu;
    const std::uint32_t subnormal = bits_of(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
    const std::uint32_t normal = (magnitude << 13) + (112u << 23);
    const std::uint32_t special = normal + (112u << 23);
    const std::uint32_t value = magnitude < 0x400u ? subnormal : magnitude < 0x7c00u ? normal : special;
    return float_of(sign | value);
  }

  static std::uint32_t narrow(float value) {
    const std::uint32_t all = bits_of(value);
    const std::uint32_t sign = (all >> 16) & 0x8000u;
    const std::uint32_t magnitude = all & 0x7fffffffu;
    const std::uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
    const std::uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);  // the sum's unit is 2^-24
    const std::uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
    const std::uint32_t finite = magnitude < (113u << 23) ? subnormal : normal;
    const std::uint32_t large = magnitude > 0x7f800000u ? nan : 0x7c00u;
    return sign | (magnitude < 0x47800000u ? finite : large);
  }
};

// bfloat16: the upper half of an IEEE binary32.
struct BF16 {
  std::uint16_t bits;
  static constexpr std::uint16_t infinity = 0x7f80;

  static float widen(std::uint32_t brain) { return float_of(brain << 16); }

  static std::uint32_t narrow(float value) {
    const std::uint32_t all = bits_of(value);
    const std::uint32_t rounded = (all + 0x7fffu + ((all >> 16) & 1u)) >> 16;
    const std::uint32_t nan = (all >> 16) | 0x40u;
    return (all & 0x7fffffffu) > 0x7f800000u ? nan : rounded;
  }
};

}  // namespace
}  // namespace millrace::kernel
