// Packing blocks of any few bytes with byte shuffles (SSSE3; AVX2 has no wider one that crosses its halves): a store of
// 16 bytes is made of up to four loads, each shuffled to where its blocks belong, and what is left of it beyond its
// last whole block is overwritten by the next store.
//
//   three chars of every five: loads  |aaa..bbb..ccc..d|ddd..eee..fff..g|   packed |aaabbbcccdddeee.|
#pragma once

#include <immintrin.h>

#include "kernel/copy/generic/lane_groups.h"

namespace millrace::kernel {
namespace {

inline constexpr std::size_t most_byte_loads = 4, byte_vector_bytes = 16;

inline __m128i load_16(const void* from) { return _mm_loadu_si128(static_cast<const __m128i_u*>(from)); }
inline void store_16(void* to, __m128i value) { _mm_storeu_si128(static_cast<__m128i_u*>(to), value); }

struct ByteGroups {
  std::size_t blocks, loads;  // of one store; no blocks: there is no such shuffle
  std::size_t load_bytes[most_byte_loads];
  alignas(byte_vector_bytes) unsigned char index[most_byte_loads][byte_vector_bytes];
};

// Two blocks in one load at least: else each block costs a load, as without shuffles.
inline bool byte_groups_fit(std::size_t block_bytes, std::size_t stride_bytes) {
  return block_bytes <= byte_vector_bytes / 2 && block_bytes + stride_bytes <= byte_vector_bytes;
}

// `wide` moves blocks of 3, 5, 6 or 7 bytes with a load and a store each: two in a load are not enough to beat that.
inline bool byte_groups_pay(std::size_t block_bytes, std::size_t stride_bytes) {
  const bool power_of_two = (block_bytes & (block_bytes - 1)) == 0;
  return byte_groups_fit(block_bytes, stride_bytes) &&
         (power_of_two || block_bytes + 2 * stride_bytes <= byte_vector_bytes);
}

inline void prepare_byte_groups(ByteGroups& groups, std::size_t block_bytes, std::size_t stride_bytes) {
  groups.blocks = groups.loads = 0;
  if (!byte_groups_fit(block_bytes, stride_bytes)) return;
  const std::size_t of_load = (byte_vector_bytes - block_bytes) / stride_bytes + 1;
  const std::size_t most = byte_vector_bytes / block_bytes;
  groups.blocks = most < most_byte_loads * of_load ? most : most_byte_loads * of_load;
  groups.loads = (groups.blocks + of_load - 1) / of_load;
  // A load that adds a single block costs more than it saves.
  if (groups.loads > 1 && groups.blocks % of_load == 1) groups.blocks -= 1, groups.loads -= 1;
  __builtin_memset(groups.index, 0x80, sizeof groups.index);  // what the shuffle makes zero
  for (std::size_t load = 0, block = 0, to = 0; load < groups.loads; ++load) {
    groups.load_bytes[load] = block * stride_bytes;
    for (std::size_t i = 0; i < of_load && block < groups.blocks; ++i, ++block)
      for (std::size_t byte = 0; byte < block_bytes; ++byte, ++to)
        groups.index[load][to] = static_cast<unsigned char>(i * stride_bytes + byte);
  }
}

template <std::size_t Loads>
inline std::size_t pack_byte_groups(const ByteGroups& groups, char* to, const char* from, std::size_t block_bytes,
                                    std::size_t stride_bytes, std::size_t block_count) {
  const std::size_t packed_advance = groups.blocks * block_bytes, advance = groups.blocks * stride_bytes;
  const std::size_t turns =
      groups_within((block_count - 1) * stride_bytes + block_bytes, groups.load_bytes[Loads - 1] + byte_vector_bytes,
                    advance, block_count * block_bytes, byte_vector_bytes, packed_advance);
  __m128i index[Loads];
  std::size_t load_bytes[Loads];
  for (std::size_t i = 0; i < Loads; ++i) index[i] = load_16(groups.index[i]), load_bytes[i] = groups.load_bytes[i];
  const auto group = [&](char* t, const char* f) {
    __m128i bytes = _mm_shuffle_epi8(load_16(f), index[0]);
    for (std::size_t i = 1; i < Loads; ++i)
      bytes = _mm_or_si128(bytes, _mm_shuffle_epi8(load_16(f + load_bytes[i]), index[i]));
    store_16(t, bytes);
  };
  std::size_t left = turns;
  for (; left >= 2; left -= 2, to += 2 * packed_advance, from += 2 * advance) {
    group(to, from);
    group(to + packed_advance, from + advance);
  }
  if (left > 0) group(to, from);
  return turns * groups.blocks;
}

inline std::size_t pack_bytes_shuffled(char* to, const char* from, std::size_t block_bytes, std::size_t stride_bytes,
                                       std::size_t block_count) {
  ByteGroups groups;
  prepare_byte_groups(groups, block_bytes, stride_bytes);
  switch (block_count ? groups.loads : 0) {
    case 1: return pack_byte_groups<1>(groups, to, from, block_bytes, stride_bytes, block_count);
    case 2: return pack_byte_groups<2>(groups, to, from, block_bytes, stride_bytes, block_count);
    case 3: return pack_byte_groups<3>(groups, to, from, block_bytes, stride_bytes, block_count);
    case 4: return pack_byte_groups<4>(groups, to, from, block_bytes, stride_bytes, block_count);
    default: return 0;
  }
}

}  // namespace
}  // namespace millrace::kernel
