// Unpacking small blocks at small strides with AVX2: whole vectors of the destination under a mask (vpmaskmovd writes
// nothing of what it masks out). Blocks and strides are known when this is compiled, so that lanes and masks are
// constants.
//
//   two ints of every three: windows of 8 lanes, '.' is masked out; the fourth is like the first
//   |aa.bb.cc|.dd.ee.f|f.gg.hh.|ii.
//
// Windows begin at a block that begins a vector of the destination, if there is one: a masked store that lies in two
// lines is slow.
#pragma once

#include "kernel/copy/x86/avx2_permute.h"

namespace millrace::kernel {
namespace {

struct MaskedWindow {
  int first_packed_lane = 0;
  int index[8] = {}, mask[8] = {};
  bool any = false;
};

constexpr MaskedWindow masked_window(int block, int stride, int window) {
  MaskedWindow result;
  for (int i = 0; i < 8; ++i) {
    const int lane = window * 8 + i, within = lane % stride;
    if (within >= block) continue;
    const int packed_lane = lane / stride * block + within;
    if (!result.any) result.first_packed_lane = packed_lane;
    result.any = true;
    result.index[i] = packed_lane - result.first_packed_lane;
    result.mask[i] = -1;
  }
  return result;
}

// Masked stores that miss the caches wait for their line one by one, unless it was asked for; see avx512_windows.h.
inline std::size_t masked_fetch_ahead(std::size_t reach_bytes) { return reach_bytes > (32 << 10) ? 1024 : 0; }

template <int Block, int Stride>
struct MaskedWindows {
  // The greatest common divisor of the stride and a vector, which is a power of two.
  static constexpr int common = (Stride | 8) & -(Stride | 8);
  static constexpr int windows = Stride / common, blocks = 8 / common;

  template <int Window>
  static void period(char* to, const char* from, std::size_t ahead_bytes) {
    __builtin_prefetch(to + 32 * Window + ahead_bytes, 1);
    constexpr MaskedWindow w = masked_window(Block, Stride, Window);
    if constexpr (w.any) {
      const __m256i packed = Avx2Lanes::load(from + 4 * w.first_packed_lane);
      const __m256i index = _mm256_setr_epi32(w.index[0], w.index[1], w.index[2], w.index[3], w.index[4], w.index[5],
                                              w.index[6], w.index[7]);
      const __m256i mask =
          _mm256_setr_epi32(w.mask[0], w.mask[1], w.mask[2], w.mask[3], w.mask[4], w.mask[5], w.mask[6], w.mask[7]);
      _mm256_maskstore_epi32(static_cast<int*>(static_cast<void*>(to + 32 * Window)), mask,
                             _mm256_permutevar8x32_epi32(packed, index));
    }
    if constexpr (Window + 1 < windows) period<Window + 1>(to, from, ahead_bytes);
  }

  static std::size_t unpack(char* to, const char* from, std::size_t block_count) {
    std::size_t skipped = 0;
    for (const char* block = to; skipped < 8; ++skipped, block += 4 * Stride)
      if (reinterpret_cast<std::uintptr_t>(block) % 32 == 0) break;
    if (skipped == 8) skipped = 0;
    if (block_count < skipped + blocks) return 0;
    unpack_blocks(to, from, 4 * Block, 4 * Stride, skipped);
    to += 4 * Stride * skipped;
    from += 4 * Block * skipped;
    constexpr int last_packed_lane = masked_window(Block, Stride, windows - 1).first_packed_lane;
    // The loads of a period end at the latest `reach` after its first packed byte.
    constexpr std::size_t most_first =
        last_packed_lane > (blocks - 1) * Block ? last_packed_lane : (blocks - 1) * Block;
    constexpr std::size_t reach = 4 * most_first + 32, packed_advance = 4 * blocks * Block;
    const std::size_t packed_bytes = (block_count - skipped) * Block * 4;
    std::size_t periods = packed_bytes < reach ? 0 : (packed_bytes - reach) / packed_advance + 1;
    const std::size_t ahead_bytes = masked_fetch_ahead(block_count * Stride * 4);
    const std::size_t done = skipped + periods * blocks;
    for (; periods > 0; --periods, to += 32 * windows, from += packed_advance) period<0>(to, from, ahead_bytes);
    return done;
  }
};

inline constexpr int most_masked_stride = 8;  // lanes

struct MaskedTable {
  UnpackGroups unpack[most_masked_stride][most_masked_stride + 1] = {};  // by lanes of a block and of a stride

  template <int Block, int Stride>
  constexpr void fill() {
    unpack[Block][Stride] = MaskedWindows<Block, Stride>::unpack;
    if constexpr (Stride < most_masked_stride)
      fill<Block, Stride + 1>();
    else if constexpr (Block + 1 < most_masked_stride)
      fill<Block + 1, Block + 2>();
  }
  constexpr MaskedTable() { fill<1, 2>(); }

  // For blocks with gaps. Null: there is none for this shape.
  UnpackGroups of(std::size_t block_bytes, std::size_t stride_bytes) const {
    if ((block_bytes | stride_bytes) % 4 || stride_bytes > 4 * most_masked_stride) return nullptr;
    return unpack[block_bytes / 4][stride_bytes / 4];
  }
};
constexpr MaskedTable avx2_masked_table;

Shuffle avx2_unpack_fits(std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
  const bool fits =
      has_gap(block_bytes, stride_bytes) && avx2_masked_table.of(block_bytes, static_cast<std::size_t>(stride_bytes));
  return fits ? Shuffle::fixed : Shuffle::none;
}

void avx2_unpack_masked(void* base, const void* packed, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                        std::size_t block_count) {
  std::size_t done = 0;
  if (has_gap(block_bytes, stride_bytes))
    if (const UnpackGroups unpack = avx2_masked_table.of(block_bytes, static_cast<std::size_t>(stride_bytes)))
      done = unpack(at(base), at(packed), block_count);
  unpack_blocks(at(base) + static_cast<std::ptrdiff_t>(done) * stride_bytes, at(packed) + done * block_bytes,
                block_bytes, stride_bytes, block_count - done);
}

}  // namespace
}  // namespace millrace::kernel
