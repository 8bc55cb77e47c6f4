// Small blocks at small strides by shuffles, 64 bytes at a time. Example: vector(2,3,int), blocks of 8 at strides
// of 12.
//
//   source  |aa.bb.cc.dd.ee.f|f.gg.hh.ii.jj.kk|.ll ...          one letter: a lane of 4 bytes, '.': a gap
//   packed  |aabbccddeeffgghh|iijjkk ...
//
// Packing computes whole vectors of packed bytes ("windows"), each from one to four vectors loaded from where its
// first block lies; unpacking computes whole vectors of the destination, each from one vector of packed bytes, and
// stores under a mask that leaves the gaps out. Windows start at cache lines of what is written: a store that straddles
// two lines takes more than twice the time. So blocks straddle windows; which lane comes from where repeats after a
// number of windows (the period), for which a table is made at the start of the call, or taken from what was prepared.
#pragma once

#include "kernel/copy/x86/avx512_lanes.h"

namespace millrace::kernel {
namespace {

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::size_t most_windows = 16;

inline bool is_power_of_two(std::size_t value) { return (value & (value - 1)) == 0; }

// After how many windows blocks lie in a window as before: `repeat_bytes` (a block or a stride) from one to the next.
inline std::size_t period_of(std::size_t repeat_bytes) {
  return repeat_bytes >> __builtin_ctzll(repeat_bytes | line_bytes);
}

// Some processors wait for the line of a masked store (Zen 5: twice the time in memory) unless it was asked for before.
// What fits into a first-level cache is likely there; a prefetch beyond the end is harmless.
inline constexpr std::size_t fetched_from_bytes = 32768, fetched_ahead_bytes = 1024;
inline std::size_t fetch_ahead(std::size_t touched_bytes) {
  return touched_bytes > fetched_from_bytes ? fetched_ahead_bytes : 0;
}

// `Most` windows in a period; of one, the table stays in registers.
template <std::size_t LaneBytes, std::size_t Most>
struct Windows {
  using L = Lanes<LaneBytes>;
  static constexpr int lane_bytes = static_cast<int>(LaneBytes);

  __m512i index[Most];
  typename L::Mask mask[Most];        // packing from four vectors: lanes of the second two; unpacking: lanes to store
  std::ptrdiff_t offset_bytes[Most];  // of the first load
  std::size_t period;
  std::size_t advance_bytes;  // from one period to the next, in what is loaded

  // Lanes of the window that starts at `start_bytes` of the repeating side, where a run of `run` lanes comes every
  // `every` lanes there and every `other_every` on the side that is loaded, less `lowest`. In single precision, which
  // is exact for numbers this small and faster than integers; half a lane keeps the quotient off the whole numbers, by
  // far enough for an approximate reciprocal (positions are below 2^13).
  // Returns which lanes are of blocks, for part `part` of the window.
  static __mmask16 numbers(__m512i& lanes, int part, std::size_t start_bytes, int run, int every, int other_every,
                           int lowest) {
    // NOLINTNEXTLINE(bugprone-integer-division): whole lanes
    const float first = static_cast<float>(start_bytes / LaneBytes + static_cast<std::size_t>(part) * 16);
    const __m512 position =
        _mm512_add_ps(_mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), _mm512_set1_ps(first));
    const __m512 each = _mm512_set1_ps(static_cast<float>(every));
    const __m512 block =
        _mm512_roundscale_ps(_mm512_mul_ps(_mm512_add_ps(position, _mm512_set1_ps(0.5f)), _mm512_rcp14_ps(each)),
                             _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512 within = _mm512_fnmadd_ps(block, each, position);
    const __m512 number = _mm512_fmadd_ps(block, _mm512_set1_ps(static_cast<float>(other_every)),
                                          _mm512_sub_ps(within, _mm512_set1_ps(static_cast<float>(lowest))));
    const __mmask16 in_block = _mm512_cmp_ps_mask(within, _mm512_set1_ps(static_cast<float>(run)), _CMP_LT_OS);
    lanes = _mm512_maskz_cvtps_epi32(in_block, number);
    return in_block;
  }
};

}  // namespace
}  // namespace millrace::kernel
