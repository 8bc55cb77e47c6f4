// Packing small blocks at small strides with NEON. Strides of 2, 3 or 4 lanes: a structure load takes the lanes apart,
// a structure store puts those of the blocks together. Other shapes: as many blocks as fit in 16 packed bytes are
// looked up in up to four vectors of the source; what is stored beyond them is overwritten by the next store.
#pragma once

#include "kernel/copy/arm/neon_lanes.h"

namespace millrace::kernel {
namespace {

inline constexpr std::size_t neon_vector_bytes = 16;

template <std::size_t LaneBytes, int Every, int Kept>
struct NeonStructures {
  using L = NeonLanes<LaneBytes>;
  using T = typename L::T;
  static constexpr std::size_t blocks = neon_vector_bytes / LaneBytes;  // of one load

  static void group(char* to, const char* from) {
    T* const out = neon_lanes<T>(to);
    const T* const in = neon_lanes<T>(from);
    if constexpr (Every == 2) {
      L::store(out, L::load_2(in).val[0]);
    } else if constexpr (Every == 3) {
      const auto lanes = L::load_3(in);
      if constexpr (Kept == 1)
        L::store(out, lanes.val[0]);
      else
        L::store_2(out, {{lanes.val[0], lanes.val[1]}});
    } else {
      const auto lanes = L::load_4(in);
      if constexpr (Kept == 1)
        L::store(out, lanes.val[0]);
      else if constexpr (Kept == 2)
        L::store_2(out, {{lanes.val[0], lanes.val[1]}});
      else
        L::store_3(out, {{lanes.val[0], lanes.val[1], lanes.val[2]}});
    }
  }

  // All but the last blocks: a load takes in the gap after its last block, which may lie beyond the source.
  static std::size_t pack(char* to, const char* from, std::size_t block_count) {
    const std::size_t groups = block_count == 0 ? 0 : (block_count - 1) / blocks;
    constexpr std::size_t packed_bytes = neon_vector_bytes * Kept, advance_bytes = neon_vector_bytes * Every;
    std::size_t left = groups;
    for (; left >= 2; left -= 2, to += 2 * packed_bytes, from += 2 * advance_bytes) {
      group(to, from);
      group(to + packed_bytes, from + advance_bytes);
    }
    if (left > 0) group(to, from);
    return groups * blocks;
  }
};

template <std::size_t LaneBytes>
inline PackGroups neon_structures_of(std::size_t kept, std::size_t every) {
  if (every == 2) return NeonStructures<LaneBytes, 2, 1>::pack;
  if (every == 3 && kept == 1) return NeonStructures<LaneBytes, 3, 1>::pack;
  if (every == 3) return NeonStructures<LaneBytes, 3, 2>::pack;
  if (kept == 1) return NeonStructures<LaneBytes, 4, 1>::pack;
  if (kept == 2) return NeonStructures<LaneBytes, 4, 2>::pack;
  return NeonStructures<LaneBytes, 4, 3>::pack;
}

// For blocks with gaps. Null: the stride is not of 2, 3 or 4 lanes, or the lanes are of 8 bytes, which are left to
// `blocks`: two a structure load are no fewer than a pair of loads.
inline PackGroups neon_structures(std::size_t block_bytes, std::size_t stride_bytes) {
  const std::size_t lane = neon_lane_of(block_bytes, stride_bytes);
  const std::size_t kept = block_bytes / lane, every = stride_bytes / lane;
  if (lane == 8 || every > 4) return nullptr;
  if (lane == 1) return neon_structures_of<1>(kept, every);
  if (lane == 2) return neon_structures_of<2>(kept, every);
  return neon_structures_of<4>(kept, every);
}

template <int Vectors>
inline std::size_t pack_looked_up(char* to, const char* from, std::size_t blocks, std::size_t block_bytes,
                                  std::size_t stride_bytes, std::size_t block_count) {
  // Packed byte i is this byte of the source; beyond the blocks, any.
  alignas(neon_vector_bytes) std::uint8_t numbers[neon_vector_bytes] = {};
  for (std::size_t i = 0; i < blocks * block_bytes; ++i)
    numbers[i] = static_cast<std::uint8_t>(i / block_bytes * stride_bytes + i % block_bytes);
  const uint8x16_t index = vld1q_u8(numbers);
  const std::size_t packed_advance = blocks * block_bytes, advance = blocks * stride_bytes;
  const std::size_t groups = groups_within((block_count - 1) * stride_bytes + block_bytes, Vectors * neon_vector_bytes,
                                           advance, block_count * block_bytes, neon_vector_bytes, packed_advance);
  const auto group = [index](char* t, const char* f) {
    const std::uint8_t* const in = neon_lanes<std::uint8_t>(f);
    std::uint8_t* const out = neon_lanes<std::uint8_t>(t);
    if constexpr (Vectors == 1) vst1q_u8(out, vqtbl1q_u8(vld1q_u8(in), index));
    if constexpr (Vectors == 2) vst1q_u8(out, vqtbl2q_u8(vld1q_u8_x2(in), index));
    if constexpr (Vectors == 3) vst1q_u8(out, vqtbl3q_u8(vld1q_u8_x3(in), index));
    if constexpr (Vectors == 4) vst1q_u8(out, vqtbl4q_u8(vld1q_u8_x4(in), index));
  };
  std::size_t left = groups;
  for (; left >= 2; left -= 2, to += 2 * packed_advance, from += 2 * advance) {
    group(to, from);
    group(to + packed_advance, from + advance);
  }
  if (left > 0) group(to, from);
  return groups * blocks;
}

// Blocks of which the packed bytes fit in one vector and the source in four.
inline std::size_t blocks_looked_up(std::size_t block_bytes, std::size_t stride_bytes) {
  if (2 * block_bytes > neon_vector_bytes || stride_bytes + block_bytes > 4 * neon_vector_bytes) return 0;
  const std::size_t packed = neon_vector_bytes / block_bytes;
  const std::size_t source = (4 * neon_vector_bytes - block_bytes) / stride_bytes + 1;
  return packed < source ? packed : source;
}

inline std::size_t pack_by_lookup(char* to, const char* from, std::size_t block_bytes, std::size_t stride_bytes,
                                  std::size_t block_count) {
  const std::size_t blocks = blocks_looked_up(block_bytes, stride_bytes);
  if (blocks == 0 || block_count == 0) return 0;
  switch (((blocks - 1) * stride_bytes + block_bytes - 1) / neon_vector_bytes) {
    case 0: return pack_looked_up<1>(to, from, blocks, block_bytes, stride_bytes, block_count);
    case 1: return pack_looked_up<2>(to, from, blocks, block_bytes, stride_bytes, block_count);
    case 2: return pack_looked_up<3>(to, from, blocks, block_bytes, stride_bytes, block_count);
    default: return pack_looked_up<4>(to, from, blocks, block_bytes, stride_bytes, block_count);
  }
}

// Lookups in more than one vector take several operations each on most processors: left to `blocks`.
Shuffle neon_pack_fits(std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
  if (!has_gap(block_bytes, stride_bytes)) return Shuffle::none;
  const std::size_t stride = static_cast<std::size_t>(stride_bytes);
  if (neon_structures(block_bytes, stride)) return Shuffle::fixed;
  return blocks_looked_up(block_bytes, stride) > 0 && block_bytes + stride <= neon_vector_bytes ? Shuffle::by_table
                                                                                                : Shuffle::none;
}

void neon_pack_permute(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                       std::size_t block_count) {
  std::size_t done = 0;
  if (has_gap(block_bytes, stride_bytes)) {
    const std::size_t stride = static_cast<std::size_t>(stride_bytes);
    if (const PackGroups pack = neon_structures(block_bytes, stride))
      done = pack(at(packed), at(base), block_count);
    else
      done = pack_by_lookup(at(packed), at(base), block_bytes, stride, block_count);
  }
  pack_blocks(at(packed) + done * block_bytes, at(base) + static_cast<std::ptrdiff_t>(done) * stride_bytes, block_bytes,
              stride_bytes, block_count - done);
}

}  // namespace
}  // namespace millrace::kernel
