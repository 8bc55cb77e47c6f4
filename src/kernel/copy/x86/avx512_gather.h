// Gathers and scatters: the published way. On some processors it is the slowest, so the chooser must ask for it.
#pragma once

#include "kernel/copy/generic/lists.h"
#include "kernel/copy/x86/avx512_lanes.h"

namespace millrace::kernel {
namespace {

inline __m512i multiples_of(std::ptrdiff_t stride_bytes) {
  return _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64(stride_bytes));
}

void pack_gather(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                 std::size_t block_count) {
  std::size_t i = 0;
  const __m512i offsets = multiples_of(stride_bytes);
  const char* from = at(base);
  char* to = at(packed);
  if (block_bytes == 8)
    for (; i + 8 <= block_count; i += 8, from += 8 * stride_bytes, to += 64)
      _mm512_storeu_si512(to, _mm512_i64gather_epi64(offsets, from, 1));
  if (block_bytes == 4)
    for (; i + 8 <= block_count; i += 8, from += 8 * stride_bytes, to += 32)
      _mm512_mask_storeu_epi32(to, 0xff, _mm512_castsi256_si512(_mm512_i64gather_epi32(offsets, from, 1)));
  pack_blocks(to, from, block_bytes, stride_bytes, block_count - i);
}

void unpack_scatter(void* base, const void* packed, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                    std::size_t block_count) {
  std::size_t i = 0;
  const __m512i offsets = multiples_of(stride_bytes);
  const char* from = at(packed);
  char* to = at(base);
  if (block_bytes == 8)
    for (; i + 8 <= block_count; i += 8, to += 8 * stride_bytes, from += 64)
      _mm512_i64scatter_epi64(to, offsets, _mm512_loadu_si512(from), 1);
  if (block_bytes == 4)
    for (; i + 8 <= block_count; i += 8, to += 8 * stride_bytes, from += 32)
      _mm512_i64scatter_epi32(to, offsets, _mm512_castsi512_si256(_mm512_maskz_loadu_epi32(0xff, from)), 1);
  unpack_blocks(to, from, block_bytes, stride_bytes, block_count - i);
}

void pack_listed_gather(void* packed, const void* base, const std::ptrdiff_t* displacements, std::size_t block_bytes,
                        std::size_t block_count) {
  std::size_t i = 0;
  if (block_bytes == 8)
    for (; i + 8 <= block_count; i += 8)
      _mm512_storeu_si512(at(packed) + i * 8, _mm512_i64gather_epi64(_mm512_loadu_si512(displacements + i), base, 1));
  if (block_bytes == 4)
    for (; i + 8 <= block_count; i += 8)
      _mm512_mask_storeu_epi32(
          at(packed) + i * 4, 0xff,
          _mm512_castsi256_si512(_mm512_i64gather_epi32(_mm512_loadu_si512(displacements + i), base, 1)));
  pack_listed(at(packed) + i * block_bytes, base, displacements + i, block_bytes, block_count - i);
}

void unpack_listed_scatter(void* base, const void* packed, const std::ptrdiff_t* displacements, std::size_t block_bytes,
                           std::size_t block_count) {
  std::size_t i = 0;
  if (block_bytes == 8)
    for (; i + 8 <= block_count; i += 8)
      _mm512_i64scatter_epi64(base, _mm512_loadu_si512(displacements + i), _mm512_loadu_si512(at(packed) + i * 8), 1);
  if (block_bytes == 4)
    for (; i + 8 <= block_count; i += 8)
      _mm512_i64scatter_epi32(base, _mm512_loadu_si512(displacements + i),
                              _mm512_castsi512_si256(_mm512_maskz_loadu_epi32(0xff, at(packed) + i * 4)), 1);
  unpack_listed(base, at(packed) + i * block_bytes, displacements + i, block_bytes, block_count - i);
}

}  // namespace
}  // namespace millrace::kernel
