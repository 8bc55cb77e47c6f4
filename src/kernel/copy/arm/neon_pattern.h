// Packing arrays of structs with NEON: a repetition, or as many as fit in 16 packed bytes, is looked up in up to four
// vectors of the source; what is stored beyond it is overwritten by the next one.
#pragma once

#include "kernel/copy/arm/neon_permute.h"
#include "kernel/copy/generic/pieces.h"

namespace millrace::kernel {
namespace {

inline constexpr std::size_t most_pattern_vectors = 4;

template <int Vectors>
inline void pack_pattern_looked_up(char* to, const char* from, const std::uint8_t* numbers, std::size_t stores,
                                   std::size_t packed_advance, std::size_t advance, std::size_t turns) {
  uint8x16_t index[most_pattern_vectors];
  for (std::size_t s = 0; s < most_pattern_vectors; ++s) index[s] = vld1q_u8(numbers + s * neon_vector_bytes);
  for (; turns > 0; --turns, to += packed_advance, from += advance) {
    const auto look_up = [&](uint8x16_t place) {
      const std::uint8_t* const in = neon_lanes<std::uint8_t>(from);
      if constexpr (Vectors == 1) return vqtbl1q_u8(vld1q_u8(in), place);
      if constexpr (Vectors == 2) return vqtbl2q_u8(vld1q_u8_x2(in), place);
      if constexpr (Vectors == 3) return vqtbl3q_u8(vld1q_u8_x3(in), place);
      if constexpr (Vectors == 4) return vqtbl4q_u8(vld1q_u8_x4(in), place);
    };
    std::uint8_t* const out = neon_lanes<std::uint8_t>(to);
    vst1q_u8(out, look_up(index[0]));
    if (stores > 1) vst1q_u8(out + 16, look_up(index[1]));
    if (stores > 2) vst1q_u8(out + 32, look_up(index[2]));
    if (stores > 3) vst1q_u8(out + 48, look_up(index[3]));
  }
}

// Returns how many repetitions are done.
inline std::size_t pack_pattern_by_lookup(char* to, const char* from, const Pattern& pattern, std::size_t repetitions) {
  const std::size_t extent = static_cast<std::size_t>(pattern.extent_bytes);
  std::size_t together = neon_vector_bytes / pattern.packed_bytes;
  if (together > pattern.group_repetitions) together = pattern.group_repetitions;
  while (together > 1 && (together - 1) * extent + pattern.span_bytes > 64) --together;
  if (together == 0) together = 1;
  if (pattern.span_bytes > 64) return 0;
  const std::size_t source = (together - 1) * extent + pattern.span_bytes, packed = together * pattern.packed_bytes;
  const std::size_t vectors = (source + neon_vector_bytes - 1) / neon_vector_bytes;
  const std::size_t stores = (packed + neon_vector_bytes - 1) / neon_vector_bytes;
  alignas(neon_vector_bytes) std::uint8_t numbers[most_pattern_vectors * neon_vector_bytes] = {};
  for (std::size_t i = 0; i < packed; ++i) numbers[i] = static_cast<std::uint8_t>(source_byte(pattern, i));
  const std::size_t turns =
      groups_within((repetitions - 1) * extent + pattern.span_bytes, vectors * neon_vector_bytes, together * extent,
                    repetitions * pattern.packed_bytes, stores * neon_vector_bytes, packed);
  if (vectors == 1) pack_pattern_looked_up<1>(to, from, numbers, stores, packed, together * extent, turns);
  if (vectors == 2) pack_pattern_looked_up<2>(to, from, numbers, stores, packed, together * extent, turns);
  if (vectors == 3) pack_pattern_looked_up<3>(to, from, numbers, stores, packed, together * extent, turns);
  if (vectors == 4) pack_pattern_looked_up<4>(to, from, numbers, stores, packed, together * extent, turns);
  return turns * together;
}

void neon_pack_pattern(void* packed, const void* base, const Pattern& pattern, std::size_t repetitions) {
  std::size_t done = 0;
  if (pattern.group_repetitions > 0 && repetitions > 0)
    done = pack_pattern_by_lookup(at(packed), at(base) + pattern.lowest_bytes, pattern, repetitions);
  pack_pattern_blocks(at(packed) + done * pattern.packed_bytes,
                      at(base) + static_cast<std::ptrdiff_t>(done) * pattern.extent_bytes, pattern, repetitions - done);
}

}  // namespace
}  // namespace millrace::kernel
