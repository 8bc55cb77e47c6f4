// Packing small blocks at small strides with SSE4.2. Nothing here unpacks: see docs/results/copies.md.
#pragma once

#include "kernel/copy/generic/byte_groups.h"

namespace millrace::kernel {
namespace {

// One lane of every two or three: two loads give two lanes each, and one shuffle does it.
template <int Stride>
std::size_t pack_lane_pairs(char* to, const char* from, std::size_t block_count) {
  if (block_count == 0) return 0;
  constexpr int pairs = Stride << 2 | Stride << 6;  // lanes 0 and Stride of each
  const std::size_t groups = groups_within(((block_count - 1) * Stride + 1) * 4, Stride * 8 + 16, Stride * 16,
                                           block_count * 4, byte_vector_bytes, byte_vector_bytes);
  for (std::size_t left = groups; left > 0; --left, to += 16, from += Stride * 16) {
    const __m128 low = _mm_castsi128_ps(load_16(from)), high = _mm_castsi128_ps(load_16(from + Stride * 8));
    store_16(to, _mm_castps_si128(_mm_shuffle_ps(low, high, pairs)));
  }
  return groups * 4;
}

Shuffle sse42_pack_fits(std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
  if (!has_gap(block_bytes, stride_bytes)) return Shuffle::none;
  if (block_bytes == 4 && (stride_bytes == 8 || stride_bytes == 12)) return Shuffle::fixed;
  return byte_groups_pay(block_bytes, static_cast<std::size_t>(stride_bytes)) ? Shuffle::by_table : Shuffle::none;
}

void sse42_pack_permute(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                        std::size_t block_count) {
  std::size_t done = 0;
  if (has_gap(block_bytes, stride_bytes)) {
    const std::size_t stride = static_cast<std::size_t>(stride_bytes);
    if (block_bytes == 4 && stride == 8)
      done = pack_lane_pairs<2>(at(packed), at(base), block_count);
    else if (block_bytes == 4 && stride == 12)
      done = pack_lane_pairs<3>(at(packed), at(base), block_count);
    else
      done = pack_bytes_shuffled(at(packed), at(base), block_bytes, stride, block_count);
  }
  pack_blocks(at(packed) + done * block_bytes, at(base) + static_cast<std::ptrdiff_t>(done) * stride_bytes, block_bytes,
              stride_bytes, block_count - done);
}

}  // namespace
}  // namespace millrace::kernel
