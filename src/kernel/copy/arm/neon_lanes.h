// NEON's structure loads and stores under one name for lanes of 1, 2 and 4 bytes.
#pragma once

#include <arm_neon.h>

#include "kernel/copy/generic/lane_groups.h"

namespace millrace::kernel {
namespace {

template <std::size_t Bytes>
struct NeonLanes;

template <>
struct NeonLanes<1> {
  using T = std::uint8_t;
  using Two = uint8x16x2_t;
  using Three = uint8x16x3_t;
  static auto load_2(const T* from) { return vld2q_u8(from); }
  static auto load_3(const T* from) { return vld3q_u8(from); }
  static auto load_4(const T* from) { return vld4q_u8(from); }
  static void store(T* to, uint8x16_t value) { vst1q_u8(to, value); }
  static void store_2(T* to, Two value) { vst2q_u8(to, value); }
  static void store_3(T* to, Three value) { vst3q_u8(to, value); }
};
template <>
struct NeonLanes<2> {
  using T = std::uint16_t;
  using Two = uint16x8x2_t;
  using Three = uint16x8x3_t;
  static auto load_2(const T* from) { return vld2q_u16(from); }
  static auto load_3(const T* from) { return vld3q_u16(from); }
  static auto load_4(const T* from) { return vld4q_u16(from); }
  static void store(T* to, uint16x8_t value) { vst1q_u16(to, value); }
  static void store_2(T* to, Two value) { vst2q_u16(to, value); }
  static void store_3(T* to, Three value) { vst3q_u16(to, value); }
};
template <>
struct NeonLanes<4> {
  using T = std::uint32_t;
  using Two = uint32x4x2_t;
  using Three = uint32x4x3_t;
  static auto load_2(const T* from) { return vld2q_u32(from); }
  static auto load_3(const T* from) { return vld3q_u32(from); }
  static auto load_4(const T* from) { return vld4q_u32(from); }
  static void store(T* to, uint32x4_t value) { vst1q_u32(to, value); }
  static void store_2(T* to, Two value) { vst2q_u32(to, value); }
  static void store_3(T* to, Three value) { vst3q_u32(to, value); }
};

// Vector loads and stores of misaligned lanes are allowed; the pointer is never used for a scalar one.
template <class T>
inline const T* neon_lanes(const char* from) {
  return static_cast<const T*>(static_cast<const void*>(from));
}
template <class T>
inline T* neon_lanes(char* to) {
  return static_cast<T*>(static_cast<void*>(to));
}

// The largest lane, of up to 8 bytes, that divides blocks and strides.
inline std::size_t neon_lane_of(std::size_t block_bytes, std::size_t stride_bytes) {
  const std::size_t bits = block_bytes | stride_bytes | 8;
  return bits & (~bits + 1);
}

}  // namespace
}  // namespace millrace::kernel
