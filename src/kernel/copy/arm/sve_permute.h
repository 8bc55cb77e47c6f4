// Small blocks at small strides with SVE. Strides of 2, 3 or 4 lanes: a structure load takes the lanes apart, a
// structure store puts those of the blocks together. Any other shape, and unpacking, where gaps must be left alone: one
// vector of the side with gaps at a time, shuffled by a table, stored under a predicate.
#pragma once

#include "kernel/copy/arm/sve_lanes.h"
#include "kernel/copy/generic/wide.h"

namespace millrace::kernel {
namespace {

// Blocks of `Kept` lanes at strides of `Every` lanes, all but the last: its gap may lie beyond the source.
template <std::size_t LaneBytes, int Every, int Kept>
void pack_structures(char* to, const char* from, std::size_t block_count) {
  using L = SveLanes<LaneBytes>;
  using T = typename L::T;
  const std::size_t step = L::count();
  for (std::size_t i = 0; i < block_count; i += step, from += step * Every * LaneBytes, to += step * Kept * LaneBytes) {
    const svbool_t blocks = L::below(i, block_count);
    if constexpr (Every == 2) {
      svst1(blocks, lanes_at<T>(to), svget2(svld2(blocks, lanes_at<T>(from)), 0));
    } else if constexpr (Every == 3) {
      const auto lanes = svld3(blocks, lanes_at<T>(from));
      if constexpr (Kept == 1)
        svst1(blocks, lanes_at<T>(to), svget3(lanes, 0));
      else
        svst2(blocks, lanes_at<T>(to), svcreate2(svget3(lanes, 0), svget3(lanes, 1)));
    } else {
      const auto lanes = svld4(blocks, lanes_at<T>(from));
      if constexpr (Kept == 1)
        svst1(blocks, lanes_at<T>(to), svget4(lanes, 0));
      else if constexpr (Kept == 2)
        svst2(blocks, lanes_at<T>(to), svcreate2(svget4(lanes, 0), svget4(lanes, 1)));
      else
        svst3(blocks, lanes_at<T>(to), svcreate3(svget4(lanes, 0), svget4(lanes, 1), svget4(lanes, 2)));
    }
  }
}

// Returns how many blocks are done.
template <std::size_t LaneBytes>
inline std::size_t pack_structured(char* to, const char* from, std::size_t kept, std::size_t every,
                                   std::size_t block_count) {
  const std::size_t most = block_count - 1;
  if (every == 2 && kept == 1)
    pack_structures<LaneBytes, 2, 1>(to, from, most);
  else if (every == 3 && kept == 1)
    pack_structures<LaneBytes, 3, 1>(to, from, most);
  else if (every == 3 && kept == 2)
    pack_structures<LaneBytes, 3, 2>(to, from, most);
  else if (every == 4 && kept == 1)
    pack_structures<LaneBytes, 4, 1>(to, from, most);
  else if (every == 4 && kept == 2)
    pack_structures<LaneBytes, 4, 2>(to, from, most);
  else if (every == 4 && kept == 3)
    pack_structures<LaneBytes, 4, 3>(to, from, most);
  else
    return 0;
  return most;
}

// Whole blocks in one vector of the side with gaps; 0: none.
template <std::size_t LaneBytes>
inline std::size_t blocks_of_vector(std::size_t block_bytes, std::size_t stride_bytes) {
  const std::size_t vector = SveLanes<LaneBytes>::count() * LaneBytes;
  return vector < block_bytes ? 0 : (vector - block_bytes) / stride_bytes + 1;
}

// Lane numbers divided by `every`, by subtracting it from the later ones `blocks` times: once a call.
template <std::size_t LaneBytes>
inline typename SveLanes<LaneBytes>::Vector lane_within(std::size_t every, std::size_t blocks) {
  using L = SveLanes<LaneBytes>;
  auto within = L::numbers();
  for (std::size_t b = 0; b < blocks; ++b)
    within = svsub_m(svcmpge(L::all(), within, L::same(every)), within, L::same(every));
  return within;
}

// On a side where blocks begin every `every` lanes, lane i belongs on another side, where they begin every
// `other_every` lanes, to lane table[i].
template <std::size_t LaneBytes>
inline typename SveLanes<LaneBytes>::Vector lane_table(std::size_t every, std::size_t other_every, std::size_t blocks) {
  using L = SveLanes<LaneBytes>;
  auto within = L::numbers(), table = L::numbers();
  for (std::size_t b = 0; b < blocks; ++b) {
    const svbool_t later = svcmpge(L::all(), within, L::same(every));
    within = svsub_m(later, within, L::same(every));
    table = svadd_m(later, table, L::same(other_every - every));
  }
  return table;
}

template <std::size_t LaneBytes>
inline svbool_t lanes_in_blocks(std::size_t kept, std::size_t every, std::size_t blocks) {
  using L = SveLanes<LaneBytes>;
  return svand_z(L::below(0, (blocks - 1) * every + kept), L::all(),
                 svcmplt(L::all(), lane_within<LaneBytes>(every, blocks), L::same(kept)));
}

inline constexpr std::size_t most_table_blocks = 64;

template <std::size_t LaneBytes>
inline std::size_t pack_by_table(char* to, const char* from, std::size_t block_bytes, std::size_t stride_bytes,
                                 std::size_t block_count) {
  using L = SveLanes<LaneBytes>;
  using T = typename L::T;
  const std::size_t blocks = blocks_of_vector<LaneBytes>(block_bytes, stride_bytes);
  if (blocks < 2 || blocks > most_table_blocks || block_count < blocks) return 0;
  const std::size_t kept = block_bytes / LaneBytes, every = stride_bytes / LaneBytes;
  const svbool_t in_block = lanes_in_blocks<LaneBytes>(kept, every, blocks), packed_lanes = L::below(0, blocks * kept);
  const auto table = lane_table<LaneBytes>(kept, every, blocks);
  const std::size_t windows = block_count / blocks;
  for (std::size_t i = 0; i < windows; ++i, from += blocks * stride_bytes, to += blocks * block_bytes)
    svst1(packed_lanes, lanes_at<T>(to), svtbl(svld1(in_block, lanes_at<T>(from)), table));
  return windows * blocks;
}

template <std::size_t LaneBytes>
inline std::size_t unpack_by_table(char* to, const char* from, std::size_t block_bytes, std::size_t stride_bytes,
                                   std::size_t block_count) {
  using L = SveLanes<LaneBytes>;
  using T = typename L::T;
  const std::size_t blocks = blocks_of_vector<LaneBytes>(block_bytes, stride_bytes);
  if (blocks < 2 || blocks > most_table_blocks || block_count < blocks) return 0;
  const std::size_t kept = block_bytes / LaneBytes, every = stride_bytes / LaneBytes;
  const svbool_t in_block = lanes_in_blocks<LaneBytes>(kept, every, blocks), packed_lanes = L::below(0, blocks * kept);
  const auto table = lane_table<LaneBytes>(every, kept, blocks);
  const std::size_t windows = block_count / blocks;
  for (std::size_t i = 0; i < windows; ++i, from += blocks * block_bytes, to += blocks * stride_bytes)
    svst1(in_block, lanes_at<T>(to), svtbl(svld1(packed_lanes, lanes_at<T>(from)), table));
  return windows * blocks;
}

template <std::size_t LaneBytes>
inline std::size_t pack_lanes(char* to, const char* from, std::size_t block_bytes, std::size_t stride_bytes,
                              std::size_t block_count) {
  const std::size_t done =
      pack_structured<LaneBytes>(to, from, block_bytes / LaneBytes, stride_bytes / LaneBytes, block_count);
  return done ? done : pack_by_table<LaneBytes>(to, from, block_bytes, stride_bytes, block_count);
}

// The largest lane that divides blocks and strides.
inline std::size_t lane_of(std::size_t block_bytes, std::size_t stride_bytes) {
  const std::size_t bits = block_bytes | stride_bytes | 8;
  return bits & (~bits + 1);
}

inline bool has_gaps(std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
  return block_bytes > 0 && stride_bytes > static_cast<std::ptrdiff_t>(block_bytes);
}

void sve_pack_permute(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                      std::size_t block_count) {
  std::size_t done = 0;
  if (has_gaps(block_bytes, stride_bytes) && block_count > 0) {
    const std::size_t stride = static_cast<std::size_t>(stride_bytes), lane = lane_of(block_bytes, stride);
    if (lane == 1) done = pack_lanes<1>(at(packed), at(base), block_bytes, stride, block_count);
    if (lane == 2) done = pack_lanes<2>(at(packed), at(base), block_bytes, stride, block_count);
    if (lane == 4) done = pack_lanes<4>(at(packed), at(base), block_bytes, stride, block_count);
    if (lane == 8) done = pack_lanes<8>(at(packed), at(base), block_bytes, stride, block_count);
  }
  pack_blocks(at(packed) + done * block_bytes, at(base) + static_cast<std::ptrdiff_t>(done) * stride_bytes, block_bytes,
              stride_bytes, block_count - done);
}

void sve_unpack_masked(void* base, const void* packed, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                       std::size_t block_count) {
  std::size_t done = 0;
  if (has_gaps(block_bytes, stride_bytes) && block_count > 0) {
    const std::size_t stride = static_cast<std::size_t>(stride_bytes), lane = lane_of(block_bytes, stride);
    if (lane == 1) done = unpack_by_table<1>(at(base), at(packed), block_bytes, stride, block_count);
    if (lane == 2) done = unpack_by_table<2>(at(base), at(packed), block_bytes, stride, block_count);
    if (lane == 4) done = unpack_by_table<4>(at(base), at(packed), block_bytes, stride, block_count);
    if (lane == 8) done = unpack_by_table<8>(at(base), at(packed), block_bytes, stride, block_count);
  }
  unpack_blocks(at(base) + static_cast<std::ptrdiff_t>(done) * stride_bytes, at(packed) + done * block_bytes,
                block_bytes, stride_bytes, block_count - done);
}

}  // namespace
}  // namespace millrace::kernel
