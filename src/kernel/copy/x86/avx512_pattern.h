// Arrays of structs by shuffles. Example: {int, double, char[3]}, extent 24, 15 packed bytes.
//
//   source  |aaaa....bbbbbbbbccc.....|dddd....eeeeeeeefff.....|    '.': a gap
//   packed  |aaaabbbbbbbbcccddddeeeeeeeefff ...
//
// Packing: a group of repetitions that fills most of a vector is picked from up to four vectors of the source; the next
// group overwrites what is stored beyond. Unpacking: windows of a line of the destination, as in avx512_masked.h, whose
// index comes from a table of one extent (Pattern::packed_lane), looked up by a shuffle.
#pragma once

#include "kernel/copy/generic/pieces.h"
#include "kernel/copy/x86/avx512_masked.h"

namespace millrace::kernel {
namespace {

template <std::size_t LaneBytes, int Vectors>
inline std::size_t pack_groups(char* to, const char* from, const Pattern& pattern, std::size_t repetitions) {
  using L = Lanes<LaneBytes>;
  const std::size_t group = pattern.group_repetitions, group_bytes = group * pattern.packed_bytes;
  const std::ptrdiff_t advance = static_cast<std::ptrdiff_t>(group) * pattern.extent_bytes;
  const std::size_t source_bytes =
      (repetitions - 1) * static_cast<std::size_t>(pattern.extent_bytes) + pattern.span_bytes;
  if (repetitions * pattern.packed_bytes < line_bytes || source_bytes < Vectors * 64) return 0;
  // Every group whose loads stay in the source and whose store stays in the packed bytes.
  const std::size_t by_source = (source_bytes - Vectors * 64) / static_cast<std::size_t>(advance) + 1;
  const std::size_t by_packed = (repetitions * pattern.packed_bytes - line_bytes) / group_bytes + 1;
  const std::size_t groups = by_source < by_packed ? by_source : by_packed;
  const __m512i index = L::widen(pattern.source_lane);
  const typename L::Mask second = static_cast<typename L::Mask>(~L::below(index, 2 * L::count));
  for (std::size_t i = 0; i < groups; ++i, from += advance, to += group_bytes) {
    const __m512i a = _mm512_loadu_si512(from);
    if constexpr (Vectors == 1) {
      _mm512_storeu_si512(to, L::pick(index, a));
    } else {
      const __m512i low = L::pick(index, a, _mm512_loadu_si512(from + 64));
      if constexpr (Vectors == 2)
        _mm512_storeu_si512(to, low);
      else
        _mm512_storeu_si512(to, L::blend(second, low,
                                         L::pick(index, _mm512_loadu_si512(from + 128),
                                                 _mm512_loadu_si512(from + 64 * (Vectors - 1)))));
    }
  }
  return groups * group;
}

template <std::size_t LaneBytes>
inline std::size_t pack_pattern_lanes(char* to, const char* from, const Pattern& pattern, std::size_t repetitions) {
  const std::size_t span =
      (pattern.group_repetitions - 1) * static_cast<std::size_t>(pattern.extent_bytes) + pattern.span_bytes;
  if (span <= 64) return pack_groups<LaneBytes, 1>(to, from, pattern, repetitions);
  if (span <= 128) return pack_groups<LaneBytes, 2>(to, from, pattern, repetitions);
  return pack_groups<LaneBytes, 4>(to, from, pattern, repetitions);
}

void pack_pattern_permute(void* packed, const void* base, const Pattern& pattern, std::size_t repetitions) {
  std::size_t done = 0;
  if (pattern.group_repetitions > 0 && repetitions > 0) {
    const char* const from = at(base) + pattern.lowest_bytes;
    if (pattern.lane_bytes == 4) done = pack_pattern_lanes<4>(at(packed), from, pattern, repetitions);
    if (pattern.lane_bytes == 2) done = pack_pattern_lanes<2>(at(packed), from, pattern, repetitions);
#if defined(__AVX512VBMI__)
    if (pattern.lane_bytes == 1) done = pack_pattern_lanes<1>(at(packed), from, pattern, repetitions);
#endif
  }
  pack_pattern_blocks(at(packed) + done * pattern.packed_bytes,
                      at(base) + static_cast<std::ptrdiff_t>(done) * pattern.extent_bytes, pattern, repetitions - done);
}

template <std::size_t LaneBytes, int Vectors>
struct PatternWindows {
  using W = Windows<LaneBytes, most_windows>;
  using L = Lanes<LaneBytes>;

  static void prepare(W& table, const Pattern& pattern, std::size_t start_bytes) {
    const std::size_t extent = static_cast<std::size_t>(pattern.extent_bytes);
    const int every = static_cast<int>(extent / LaneBytes), packed = static_cast<int>(pattern.packed_bytes / LaneBytes);
    const __m512i packed_lane[2] = {L::widen(pattern.packed_lane), L::widen(pattern.packed_lane + L::count)};
    table.period = period_of(extent);
    table.advance_bytes = (line_bytes >> __builtin_ctzll(extent | line_bytes)) * pattern.packed_bytes;
    std::size_t repetition = 0, within = start_bytes;
    for (std::size_t v = 0; v < table.period; ++v) {
      __m512i lanes[4], starts[4];
      for (int part = 0; part < L::count / 16; ++part) {
        // The lane within the repetition, and the first packed lane of the repetition.
        W::numbers(lanes[part], part, start_bytes + v * line_bytes, every, every, 0, 0);
        W::numbers(starts[part], part, start_bytes + v * line_bytes, every, every, every + packed,
                   static_cast<int>(repetition) * packed);
        // block * (every + packed) + within - first, less position = block * every + within, is block * packed - first.
        const int first = static_cast<int>(start_bytes / LaneBytes + v * line_bytes / LaneBytes) + part * 16;
        starts[part] = _mm512_sub_epi32(
            starts[part], _mm512_add_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                           _mm512_set1_epi32(first)));
      }
      const __m512i found = L::pick(L::narrow(lanes), packed_lane[0], packed_lane[1]);
      table.mask[v] = L::below(found, pattern_gap);
      table.index[v] = L::sum(found, L::narrow(starts));
      table.offset_bytes[v] = static_cast<std::ptrdiff_t>(repetition * pattern.packed_bytes);
      for (within += line_bytes; within >= extent; within -= extent) ++repetition;
    }
  }

  // With a known `Period` (0: any) the table stays in registers.
  template <std::size_t Period>
  static void repeat(const W& table, char* to, const char* from, std::size_t turns, std::size_t ahead_bytes) {
    const std::size_t period = Period ? Period : table.period;
    for (std::size_t turn = 0; turn < turns; ++turn, from += table.advance_bytes)
      for (std::size_t v = 0; v < period; ++v, to += line_bytes) {
        const char* const source = from + table.offset_bytes[v];
        __builtin_prefetch(to + ahead_bytes, 1);
        const __m512i a = _mm512_loadu_si512(source);
        if constexpr (Vectors == 1)
          L::store(to, table.mask[v], L::pick(table.index[v], a));
        else
          L::store(to, table.mask[v], L::pick(table.index[v], a, _mm512_loadu_si512(source + 64)));
      }
  }

  // Returns from which repetition on nothing is done.
  static std::size_t unpack(char* base, const char* packed, const Pattern& pattern, std::size_t repetitions) {
    const std::size_t extent = static_cast<std::size_t>(pattern.extent_bytes);
    char* const lowest = base + pattern.lowest_bytes;
    std::size_t start = (line_bytes - reinterpret_cast<std::uintptr_t>(lowest) % line_bytes) % line_bytes;
    if (start % LaneBytes) start = 0;
    const std::size_t reach = repetitions * extent;
    if (reach < start + 4 * line_bytes) return 0;
    const std::size_t skipped = start / extent;
    unpack_pattern_blocks(base, packed, pattern, (start + extent - 1) / extent);
    W table;
    prepare(table, pattern, start - skipped * extent);
    const std::size_t period_bytes = table.period * line_bytes;
    char* to = lowest + start;
    const char* from = packed + skipped * pattern.packed_bytes;
    const std::ptrdiff_t room =
        packed + repetitions * pattern.packed_bytes - from - table.offset_bytes[table.period - 1] - Vectors * 64;
    if (room < 0) return (start + extent - 1) / extent;
    std::size_t turns = static_cast<std::size_t>(room) / table.advance_bytes + 1;
    if (turns > (reach - start) / period_bytes) turns = (reach - start) / period_bytes;
    const std::size_t ahead_bytes = fetch_ahead(reach);
    if (table.period == 3)
      repeat<3>(table, to, from, turns, ahead_bytes);
    else
      repeat<0>(table, to, from, turns, ahead_bytes);
    to += turns * period_bytes;
    // What the last window left of a repetition is done again as a whole.
    return static_cast<std::size_t>(to - lowest) / extent;
  }
};

template <std::size_t LaneBytes>
inline std::size_t unpack_pattern_lanes(char* base, const char* packed, const Pattern& pattern,
                                        std::size_t repetitions) {
  // Packed bytes of the repetitions that a window touches.
  const std::size_t range = (63 / static_cast<std::size_t>(pattern.extent_bytes) + 2) * pattern.packed_bytes;
  if (range <= 64) return PatternWindows<LaneBytes, 1>::unpack(base, packed, pattern, repetitions);
  if (range <= 128) return PatternWindows<LaneBytes, 2>::unpack(base, packed, pattern, repetitions);
  return 0;
}

void unpack_pattern_masked(void* base, const void* packed, const Pattern& pattern, std::size_t repetitions) {
  std::size_t done = 0;
  if (pattern.disjoint_repetitions && pattern.extent_bytes <= 128 &&
      period_of(static_cast<std::size_t>(pattern.extent_bytes)) <= most_windows) {
    if (pattern.lane_bytes == 4) done = unpack_pattern_lanes<4>(at(base), at(packed), pattern, repetitions);
    if (pattern.lane_bytes == 2) done = unpack_pattern_lanes<2>(at(base), at(packed), pattern, repetitions);
#if defined(__AVX512VBMI__)
    if (pattern.lane_bytes == 1) done = unpack_pattern_lanes<1>(at(base), at(packed), pattern, repetitions);
#endif
  }
  unpack_pattern_blocks(at(base) + static_cast<std::ptrdiff_t>(done) * pattern.extent_bytes,
                        at(packed) + done * pattern.packed_bytes, pattern, repetitions - done);
}

}  // namespace
}  // namespace millrace::kernel
