// Gathers and scatters with SVE, and blocks of many vectors four at a time.
#pragma once

#include "kernel/copy/arm/sve_lanes.h"
#include "kernel/copy/generic/lists.h"
#include "kernel/copy/generic/wide.h"

namespace millrace::kernel {
namespace {

void sve_pack_gather(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                     std::size_t block_count) {
  const svint64_t offsets = svindex_s64(0, stride_bytes);
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(svcntd());
  const char* from = at(base);
  char* to = at(packed);
  if (block_bytes != 8 && block_bytes != 4) return pack_blocks(packed, base, block_bytes, stride_bytes, block_count);
  for (std::size_t i = 0; i < block_count; i += svcntd(), from += step * stride_bytes, to += svcntd() * block_bytes) {
    const svbool_t blocks = svwhilelt_b64_u64(i, block_count);
    if (block_bytes == 8)
      svst1_u64(blocks, lanes_at<std::uint64_t>(to),
                svld1_gather_s64offset_u64(blocks, lanes_at<std::uint64_t>(from), offsets));
    else
      svst1w_u64(blocks, lanes_at<std::uint32_t>(to),
                 svld1uw_gather_s64offset_u64(blocks, lanes_at<std::uint32_t>(from), offsets));
  }
}

void sve_unpack_scatter(void* base, const void* packed, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                        std::size_t block_count) {
  const svint64_t offsets = svindex_s64(0, stride_bytes);
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(svcntd());
  const char* from = at(packed);
  char* to = at(base);
  if (block_bytes != 8 && block_bytes != 4) return unpack_blocks(base, packed, block_bytes, stride_bytes, block_count);
  for (std::size_t i = 0; i < block_count; i += svcntd(), to += step * stride_bytes, from += svcntd() * block_bytes) {
    const svbool_t blocks = svwhilelt_b64_u64(i, block_count);
    if (block_bytes == 8)
      svst1_scatter_s64offset_u64(blocks, lanes_at<std::uint64_t>(to), offsets,
                                  svld1_u64(blocks, lanes_at<std::uint64_t>(from)));
    else
      svst1w_scatter_s64offset_u64(blocks, lanes_at<std::uint32_t>(to), offsets,
                                   svld1uw_u64(blocks, lanes_at<std::uint32_t>(from)));
  }
}

void sve_pack_listed(void* packed, const void* base, const std::ptrdiff_t* displacements, std::size_t block_bytes,
                     std::size_t block_count) {
  if (block_bytes != 8) return pack_listed(packed, base, displacements, block_bytes, block_count);
  for (std::size_t i = 0; i < block_count; i += svcntd()) {
    const svbool_t blocks = svwhilelt_b64_u64(i, block_count);
    svst1_u64(
        blocks, lanes_at<std::uint64_t>(at(packed)) + i,
        svld1_gather_s64offset_u64(blocks, lanes_at<std::uint64_t>(at(base)), svld1_s64(blocks, displacements + i)));
  }
}
void sve_unpack_listed(void* base, const void* packed, const std::ptrdiff_t* displacements, std::size_t block_bytes,
                       std::size_t block_count) {
  if (block_bytes != 8) return unpack_listed(base, packed, displacements, block_bytes, block_count);
  for (std::size_t i = 0; i < block_count; i += svcntd()) {
    const svbool_t blocks = svwhilelt_b64_u64(i, block_count);
    svst1_scatter_s64offset_u64(blocks, lanes_at<std::uint64_t>(at(base)), svld1_s64(blocks, displacements + i),
                                svld1_u64(blocks, lanes_at<std::uint64_t>(at(packed)) + i));
  }
}

// `bytes` from one place to another: two times four vectors a turn (a structure load and the structure store that
// undoes it), the rest one by one.
inline void move_four_vectors(char* to, const char* from, std::size_t bytes) {
  const std::uint8_t* source = lanes_at<std::uint8_t>(from);
  std::uint8_t* target = lanes_at<std::uint8_t>(to);
  const std::size_t vector = svcntb();
  const svbool_t all = svptrue_b8();
  std::size_t turns = bytes / (8 * vector);
  const std::size_t rest = bytes - turns * 8 * vector;
  for (; turns > 0; --turns, source += 8 * vector, target += 8 * vector) {
    const svuint8x4_t first = svld4_u8(all, source), second = svld4_vnum_u8(all, source, 4);
    svst4_u8(all, target, first);
    svst4_vnum_u8(all, target, 4, second);
  }
  for (std::size_t i = 0; i < rest; i += vector) {
    const svbool_t left = svwhilelt_b8_u64(i, rest);
    svst1_u8(left, target + i, svld1_u8(left, source + i));
  }
}

// Whether structure loads and stores are fast differs: the chooser does not ask for this where nothing was measured.
void sve_pack_wide(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                   std::size_t block_count) {
  if (block_bytes < 8 * svcntb()) return pack_wide(packed, base, block_bytes, stride_bytes, block_count);
  char* to = at(packed);
  const char* from = at(base);
  for (; block_count > 0; --block_count, to += block_bytes, from += stride_bytes)
    move_four_vectors(to, from, block_bytes);
}
void sve_unpack_wide(void* base, const void* packed, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                     std::size_t block_count) {
  if (block_bytes < 8 * svcntb()) return unpack_blocks(base, packed, block_bytes, stride_bytes, block_count);
  char* to = at(base);
  const char* from = at(packed);
  for (; block_count > 0; --block_count, to += stride_bytes, from += block_bytes)
    move_four_vectors(to, from, block_bytes);
}

}  // namespace
}  // namespace millrace::kernel
