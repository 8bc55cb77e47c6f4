// Packing small blocks at small strides with AVX2.
#pragma once

#include "kernel/copy/generic/byte_groups.h"

namespace millrace::kernel {
namespace {

struct Avx2Lanes {
  using Register = __m256i;
  static constexpr int lanes = 8;
  static Register load(const char* from) {
    return _mm256_loadu_si256(static_cast<const __m256i_u*>(static_cast<const void*>(from)));
  }
  static void store(char* to, Register value) {
    _mm256_storeu_si256(static_cast<__m256i_u*>(static_cast<void*>(to)), value);
  }
  template <unsigned Taken>
  static Register blend(Register a, Register b) {
    return _mm256_blend_epi32(a, b, static_cast<int>(Taken));
  }
  template <class Groups>
  static Register permute(Register value) {
    constexpr const auto& i = Groups::plan.index;
    return _mm256_permutevar8x32_epi32(value, _mm256_setr_epi32(i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7]));
  }
};

constexpr LaneGroupsTable<Avx2Lanes> avx2_lane_groups;

Shuffle avx2_pack_fits(std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
  if (!has_gap(block_bytes, stride_bytes)) return Shuffle::none;
  const std::size_t stride = static_cast<std::size_t>(stride_bytes);
  if (avx2_lane_groups.of(block_bytes, stride)) return Shuffle::fixed;
  return byte_groups_pay(block_bytes, stride) ? Shuffle::by_table : Shuffle::none;
}

void avx2_pack_permute(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                       std::size_t block_count) {
  std::size_t done = 0;
  if (has_gap(block_bytes, stride_bytes)) {
    const std::size_t stride = static_cast<std::size_t>(stride_bytes);
    if (const PackGroups pack = avx2_lane_groups.of(block_bytes, stride))
      done = pack(at(packed), at(base), block_count);
    else
      done = pack_bytes_shuffled(at(packed), at(base), block_bytes, stride, block_count);
  }
  pack_blocks(at(packed) + done * block_bytes, at(base) + static_cast<std::ptrdiff_t>(done) * stride_bytes, block_bytes,
              stride_bytes, block_count - done);
}

}  // namespace
}  // namespace millrace::kernel
