// Unpacking blocks of 2, 4 and 8 bytes with NEON: loads of whole vectors, a store of one lane for each block, which
// moves on by the stride itself. NEON has no store that leaves lanes out: its structure stores would write the gaps.
//
// In assembly: compilers turn a vector of which only single lanes are stored into loads of single lanes again.
#pragma once

#include "kernel/copy/arm/neon_lanes.h"

namespace millrace::kernel {
namespace {

// All lanes of two vectors; returns where the next block belongs.
template <std::size_t LaneBytes>
inline char* store_lanes(char* to, std::ptrdiff_t stride_bytes, uint8x16x2_t packed) {
  if constexpr (LaneBytes == 2)
    asm volatile(
        "st1 {%1.h}[0], [%0], %3\n st1 {%1.h}[1], [%0], %3\n st1 {%1.h}[2], [%0], %3\n st1 {%1.h}[3], [%0], %3\n"
        "st1 {%1.h}[4], [%0], %3\n st1 {%1.h}[5], [%0], %3\n st1 {%1.h}[6], [%0], %3\n st1 {%1.h}[7], [%0], %3\n"
        "st1 {%2.h}[0], [%0], %3\n st1 {%2.h}[1], [%0], %3\n st1 {%2.h}[2], [%0], %3\n st1 {%2.h}[3], [%0], %3\n"
        "st1 {%2.h}[4], [%0], %3\n st1 {%2.h}[5], [%0], %3\n st1 {%2.h}[6], [%0], %3\n st1 {%2.h}[7], [%0], %3\n"
        : "+r"(to)
        : "w"(packed.val[0]), "w"(packed.val[1]), "r"(stride_bytes)
        : "memory");
  else if constexpr (LaneBytes == 4)
    asm volatile(
        "st1 {%1.s}[0], [%0], %3\n st1 {%1.s}[1], [%0], %3\n st1 {%1.s}[2], [%0], %3\n st1 {%1.s}[3], [%0], %3\n"
        "st1 {%2.s}[0], [%0], %3\n st1 {%2.s}[1], [%0], %3\n st1 {%2.s}[2], [%0], %3\n st1 {%2.s}[3], [%0], %3\n"
        : "+r"(to)
        : "w"(packed.val[0]), "w"(packed.val[1]), "r"(stride_bytes)
        : "memory");
  else
    asm volatile(
        "st1 {%1.d}[0], [%0], %3\n st1 {%1.d}[1], [%0], %3\n st1 {%2.d}[0], [%0], %3\n st1 {%2.d}[1], [%0], %3\n"
        : "+r"(to)
        : "w"(packed.val[0]), "w"(packed.val[1]), "r"(stride_bytes)
        : "memory");
  return to;
}

// Returns how many blocks are done.
template <std::size_t LaneBytes>
inline std::size_t unpack_by_lanes(char* to, const char* from, std::ptrdiff_t stride_bytes, std::size_t block_count) {
  constexpr std::size_t blocks = 32 / LaneBytes;
  const std::size_t groups = block_count / blocks;
  for (std::size_t left = groups; left > 0; --left, from += 32)
    to = store_lanes<LaneBytes>(to, stride_bytes, vld1q_u8_x2(neon_lanes<std::uint8_t>(from)));
  return groups * blocks;
}

Shuffle neon_unpack_fits(std::size_t block_bytes, std::ptrdiff_t) {
  return block_bytes == 2 || block_bytes == 4 || block_bytes == 8 ? Shuffle::fixed : Shuffle::none;
}

void neon_unpack_lanes(void* base, const void* packed, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                       std::size_t block_count) {
  std::size_t done = 0;
  if (block_bytes == 2) done = unpack_by_lanes<2>(at(base), at(packed), stride_bytes, block_count);
  if (block_bytes == 4) done = unpack_by_lanes<4>(at(base), at(packed), stride_bytes, block_count);
  if (block_bytes == 8) done = unpack_by_lanes<8>(at(base), at(packed), stride_bytes, block_count);
  unpack_blocks(at(base) + static_cast<std::ptrdiff_t>(done) * stride_bytes, at(packed) + done * block_bytes,
                block_bytes, stride_bytes, block_count - done);
}

}  // namespace
}  // namespace millrace::kernel
