// SVE vectors as lanes of 1, 2, 4 or 8 bytes, for code that does not know their length.
#pragma once

#include <arm_sve.h>

#include "kernel/copy/generic/moves.h"

namespace millrace::kernel {
namespace {

template <std::size_t Bytes>
struct SveLanes;

template <>
struct SveLanes<1> {
  using T = std::uint8_t;
  using Vector = svuint8_t;
  static std::size_t count() { return svcntb(); }
  static svbool_t below(std::size_t i, std::size_t n) { return svwhilelt_b8_u64(i, n); }
  static svbool_t all() { return svptrue_b8(); }
  static Vector numbers() { return svindex_u8(0, 1); }
  static Vector same(std::size_t value) { return svdup_u8(static_cast<T>(value)); }
};
template <>
struct SveLanes<2> {
  using T = std::uint16_t;
  using Vector = svuint16_t;
  static std::size_t count() { return svcnth(); }
  static svbool_t below(std::size_t i, std::size_t n) { return svwhilelt_b16_u64(i, n); }
  static svbool_t all() { return svptrue_b16(); }
  static Vector numbers() { return svindex_u16(0, 1); }
  static Vector same(std::size_t value) { return svdup_u16(static_cast<T>(value)); }
};
template <>
struct SveLanes<4> {
  using T = std::uint32_t;
  using Vector = svuint32_t;
  static std::size_t count() { return svcntw(); }
  static svbool_t below(std::size_t i, std::size_t n) { return svwhilelt_b32_u64(i, n); }
  static svbool_t all() { return svptrue_b32(); }
  static Vector numbers() { return svindex_u32(0, 1); }
  static Vector same(std::size_t value) { return svdup_u32(static_cast<T>(value)); }
};
template <>
struct SveLanes<8> {
  using T = std::uint64_t;
  using Vector = svuint64_t;
  static std::size_t count() { return svcntd(); }
  static svbool_t below(std::size_t i, std::size_t n) { return svwhilelt_b64_u64(i, n); }
  static svbool_t all() { return svptrue_b64(); }
  static Vector numbers() { return svindex_u64(0, 1); }
  static Vector same(std::size_t value) { return svdup_u64(value); }
};

// A vector load or store of misaligned lanes is allowed; the pointer is never used for a scalar one.
template <class T>
inline const T* lanes_at(const char* from) {
  return static_cast<const T*>(static_cast<const void*>(from));
}
template <class T>
inline T* lanes_at(char* to) {
  return static_cast<T*>(static_cast<void*>(to));
}

}  // namespace
}  // namespace millrace::kernel
