// Unpacking small blocks at small strides: whole vectors of the destination under a mask. See avx512_windows.h.
#pragma once

#include "kernel/copy/x86/avx512_permute.h"

namespace millrace::kernel {
namespace {

template <std::size_t LaneBytes, std::size_t Most>
struct UnpackWindows {
  using W = Windows<LaneBytes, Most>;
  using L = Lanes<LaneBytes>;

  static void prepare(W& table, std::size_t start_bytes, std::size_t block_bytes, std::size_t stride_bytes) {
    const int run = static_cast<int>(block_bytes / LaneBytes), every = static_cast<int>(stride_bytes / LaneBytes);
    std::size_t packed_bytes = 0, within = start_bytes;
    for (std::size_t v = 0; v < table.period; ++v) {
      // The first packed byte that is needed: a window may start in a gap.
      const std::size_t first = packed_bytes + (within < block_bytes ? within : block_bytes);
      __m512i lanes[4];
      typename L::Mask mask = 0;
      for (int part = 0; part < L::count / 16; ++part) {
        const __mmask16 in_block = W::numbers(lanes[part], part, start_bytes + v * line_bytes, run, every, run,
                                              static_cast<int>(first / LaneBytes));
        mask = static_cast<typename L::Mask>(mask | static_cast<typename L::Mask>(in_block) << (16 * part));
      }
      table.index[v] = L::narrow(lanes);
      table.mask[v] = mask;
      table.offset_bytes[v] = static_cast<std::ptrdiff_t>(first);
      if (v + 1 == table.period) break;
      for (within += line_bytes; within >= stride_bytes; within -= stride_bytes) packed_bytes += block_bytes;
    }
  }

  static void window(const W& table, std::size_t v, char* to, const char* from) {
    const __m512i packed = _mm512_loadu_si512(from + table.offset_bytes[v]);
    L::store(to, table.mask[v], L::pick(table.index[v], packed));
  }

  static void repeat(const W& table, char* to, const char* from, std::size_t turns, std::size_t ahead_bytes) {
    const std::size_t period = Most == most_windows ? table.period : Most;
    for (; turns > 0; --turns, to += period * line_bytes, from += table.advance_bytes)
      for (std::size_t v = 0; v < period; ++v) {
        __builtin_prefetch(to + v * line_bytes + ahead_bytes, 1);
        window(table, v, to + v * line_bytes, from);
      }
  }

  // `Count` windows from `Vectors` vectors of packed bytes (two: for 2 or 3 windows): loads that straddle two cache
  // lines are what a loop of window after window waits for, and neighbouring windows read the same bytes.
  template <int Count, int Vectors>
  static std::size_t several(const W& table, char* to, const char* from, const char* packed_end, std::size_t turns,
                             std::size_t ahead_bytes) {
    const std::size_t period = Most == most_windows ? table.period : Most, periods = Count / period;
    const std::size_t advance = periods * table.advance_bytes;
    from += table.offset_bytes[0];
    // The second vector ends with what the windows consume, so that the last window has all of its bytes in it.
    const std::size_t second = Vectors == 2 ? advance - 64 : 0;
    std::size_t count = turns / periods;
    while (count > 0 && from + (count - 1) * advance + second + 64 > packed_end) --count;
    __m512i index[Count];
    typename L::Mask mask[Count];
    for (std::size_t i = 0; i < Count; ++i) {
      std::ptrdiff_t later = static_cast<std::ptrdiff_t>(i / period * table.advance_bytes) +
                             table.offset_bytes[i % period] - table.offset_bytes[0];
      if (i + 1 == Count) later -= static_cast<std::ptrdiff_t>(second);
      index[i] = L::add(table.index[i % period], static_cast<int>(later) / W::lane_bytes);
      mask[i] = table.mask[i % period];
    }
    if constexpr (Count == 3 && Vectors == 2) {
      const int overlap = static_cast<int>(64 - second) / W::lane_bytes;
      index[1] = L::blend(L::below(index[1], L::count), L::add(index[1], overlap), index[1]);
    }
    const auto turn = [&](char* t, const char* f) {
      for (int i = 0; i < Count; ++i) __builtin_prefetch(t + ahead_bytes + i * 64, 1);
      const __m512i a = _mm512_loadu_si512(f), b = Vectors == 2 ? _mm512_loadu_si512(f + second) : a;
      L::store(t, mask[0], L::pick(index[0], a));
      for (int i = 1; i + 1 < Count; ++i)
        L::store(t + i * 64, mask[i], Vectors == 2 ? L::pick(index[i], a, b) : L::pick(index[i], a));
      L::store(t + (Count - 1) * 64, mask[Count - 1], L::pick(index[Count - 1], b));
    };
    std::size_t left = count;
    for (; left >= 2; left -= 2, to += 2 * Count * line_bytes, from += 2 * advance) {
      turn(to, from);
      turn(to + Count * line_bytes, from + advance);
    }
    if (left > 0) turn(to, from);
    return count * periods;
  }

  // Returns how many turns are done.
  static std::size_t repeat_several(const W& table, char* to, const char* from, const char* packed_end,
                                    std::size_t turns, std::size_t ahead_bytes) {
    if constexpr (Most == 1) {
      if (table.advance_bytes <= 16) return several<4, 1>(table, to, from, packed_end, turns, ahead_bytes);
      if (table.advance_bytes <= 32) return several<2, 1>(table, to, from, packed_end, turns, ahead_bytes);
      return several<2, 2>(table, to, from, packed_end, turns, ahead_bytes);
    }
    if constexpr (Most == 3) {
      if (table.advance_bytes <= 64) return several<3, 1>(table, to, from, packed_end, turns, ahead_bytes);
      if (table.advance_bytes <= 128) return several<3, 2>(table, to, from, packed_end, turns, ahead_bytes);
    }
    return 0;
  }

  static void set_period(W& table, std::size_t block_bytes, std::size_t stride_bytes) {
    table.period = Most == most_windows ? period_of(stride_bytes) : Most;
    table.advance_bytes = (line_bytes >> __builtin_ctzll(stride_bytes | line_bytes)) * block_bytes;
  }

  static void unpack(char* base, const char* packed, std::size_t block_bytes, std::size_t stride_bytes,
                     std::size_t block_count) {
    const std::size_t reach = (block_count - 1) * stride_bytes + block_bytes, start = first_window<LaneBytes>(base);
    const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(stride_bytes);
    if (reach < start + 4 * line_bytes) return unpack_blocks(base, packed, block_bytes, stride, block_count);
    // A block that lies on both sides of `start` is stored here and once more by the first window: the same bytes.
    std::size_t skipped_blocks = 0;
    if (start > 0) {
      skipped_blocks = start / stride_bytes;
      unpack_blocks(base, packed, block_bytes, stride, (start + stride_bytes - 1) / stride_bytes);
    }
    W table;
    set_period(table, block_bytes, stride_bytes);
    prepare(table, start - skipped_blocks * stride_bytes, block_bytes, stride_bytes);
    run(table, base, start, skipped_blocks, packed, block_bytes, stride_bytes, block_count);
  }

  // With what was prepared, for at least four windows after the first cache line and 64 packed bytes.
  static void unpack(char* base, const char* packed, const PreparedTable<LaneBytes>& prepared, std::size_t block_bytes,
                     std::size_t stride_bytes, std::size_t block_count) {
    const std::size_t start = first_window<LaneBytes>(base);
    const std::ptrdiff_t block = static_cast<std::ptrdiff_t>(block_bytes);
    std::size_t skipped_blocks = 0;
    W table;
    if (start > 0) {
      // What lies before the first cache line, and some of that line, as a window across the two.
      L::store(base, prepared.phases.mask[0], L::pick(prepared.phases.index[0], _mm512_loadu_si512(packed)));
      skipped_blocks = static_cast<unsigned>(start) / static_cast<unsigned>(stride_bytes);
    }
    set_period(table, block_bytes, stride_bytes);
    take_windows(table, prepared.phases, start - skipped_blocks * stride_bytes, stride_bytes, block);
    run(table, base, start, skipped_blocks, packed, block_bytes, stride_bytes, block_count);
  }

  // All windows from the first cache line on.
  static void run(const W& table, char* base, std::size_t start, std::size_t skipped_blocks, const char* packed,
                  std::size_t block_bytes, std::size_t stride_bytes, std::size_t block_count) {
    const std::size_t reach = (block_count - 1) * stride_bytes + block_bytes;
    const std::size_t period_bytes = table.period * line_bytes;
    char* to = base + start;
    const char* from = packed + skipped_blocks * block_bytes;
    const char* const packed_end = packed + block_count * block_bytes;
    std::size_t turns = (reach - start) / period_bytes;
    const std::size_t done = repeat_several(table, to, from, packed_end, turns, fetch_ahead(reach));
    to += done * period_bytes;
    from += done * table.advance_bytes;
    turns -= done;
    // Loads are whole vectors: none may leave the packed bytes.
    const char* const last = from + table.offset_bytes[table.period - 1] + line_bytes;
    while (turns > 0 && last + (turns - 1) * table.advance_bytes > packed_end) --turns;
    repeat(table, to, from, turns, fetch_ahead(reach));
    to += turns * period_bytes;
    from += turns * table.advance_bytes;

    // The rest, with masks on the loads too.
    for (std::size_t v = 0; to < base + reach; to += line_bytes) {
      const char* const source = from + table.offset_bytes[v];
      const std::ptrdiff_t left = packed_end - source;
      if (left >= static_cast<std::ptrdiff_t>(line_bytes)) {
        window(table, v, to, from);
      } else if (left > 0) {
        const __m512i value = _mm512_maskz_loadu_epi8(first_bytes(left), source);
        const int limit = left < 64 ? static_cast<int>(left) / W::lane_bytes : L::count;
        const auto mask = static_cast<typename L::Mask>(table.mask[v] & L::below(table.index[v], limit));
        L::store(to, mask, L::pick(table.index[v], value));
      }
      if (++v == table.period) {
        v = 0;
        from += table.advance_bytes;
      }
    }
  }
};

template <std::size_t LaneBytes>
inline bool unpack_masked_lanes(void* base, const void* packed, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                                std::size_t block_count) {
  const std::size_t stride = static_cast<std::size_t>(stride_bytes);
  if (stride_bytes <= 0 || block_bytes == 0 || block_count == 0 || block_bytes > stride || stride > 256 ||
      block_bytes % LaneBytes || stride % LaneBytes)
    return false;
  const std::size_t period = period_of(stride);
  if (period > most_windows) return false;
  if (period == 1)
    UnpackWindows<LaneBytes, 1>::unpack(at(base), at(packed), block_bytes, stride, block_count);
  else if (period == 3)
    UnpackWindows<LaneBytes, 3>::unpack(at(base), at(packed), block_bytes, stride, block_count);
  else
    UnpackWindows<LaneBytes, most_windows>::unpack(at(base), at(packed), block_bytes, stride, block_count);
  return true;
}

void unpack_masked(void* base, const void* packed, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                   std::size_t block_count) {
  if (unpack_masked_lanes<4>(base, packed, block_bytes, stride_bytes, block_count)) return;
  if (unpack_masked_lanes<2>(base, packed, block_bytes, stride_bytes, block_count)) return;
#if defined(__AVX512VBMI__)
  if (unpack_masked_lanes<1>(base, packed, block_bytes, stride_bytes, block_count)) return;
#endif
  unpack_blocks(base, packed, block_bytes, stride_bytes, block_count);
}

template <std::size_t LaneBytes>
inline bool prepare_unpack_lanes(StridedTable& table, std::size_t block_bytes, std::size_t stride_bytes) {
  if (block_bytes % LaneBytes || stride_bytes % LaneBytes || stride_bytes > most_phases * LaneBytes) return false;
  auto& prepared = prepared_as<PreparedTable<LaneBytes>>(table);
  prepared.shape = {LaneBytes, static_cast<unsigned char>(period_of(stride_bytes)), 1, 1};
  using One = UnpackWindows<LaneBytes, 1>;
  for (std::size_t phase = 0; phase * LaneBytes < stride_bytes; ++phase) {
    typename One::W window;
    window.period = 1;
    One::prepare(window, phase * LaneBytes, block_bytes, stride_bytes);
    prepared.phases.index[phase] = window.index[0];
    prepared.phases.mask[phase] = window.mask[0];
    prepared.phases.offset_bytes[phase] = static_cast<int>(window.offset_bytes[0]);
  }
  return true;
}

bool prepare_unpack_masked(StridedTable& table, std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
  const std::size_t stride = static_cast<std::size_t>(stride_bytes);
  if (block_bytes == 0 || stride_bytes <= 0 || block_bytes > stride) return false;
  if (prepare_unpack_lanes<4>(table, block_bytes, stride)) return true;
  if (prepare_unpack_lanes<2>(table, block_bytes, stride)) return true;
#if defined(__AVX512VBMI__)
  if (prepare_unpack_lanes<1>(table, block_bytes, stride)) return true;
#endif
  return false;
}

template <std::size_t LaneBytes>
inline void unpack_prepared_lanes(void* base, const void* packed, const StridedTable& table, std::size_t block_bytes,
                                  std::size_t stride_bytes, std::size_t block_count) {
  const auto& prepared = prepared_as<PreparedTable<LaneBytes>>(table);
  if (block_count * block_bytes < line_bytes ||
      (block_count - 1) * stride_bytes < first_window<LaneBytes>(base) + 4 * line_bytes)
    return unpack_blocks(base, packed, block_bytes, static_cast<std::ptrdiff_t>(stride_bytes), block_count);
  if (prepared.shape.period == 1)
    UnpackWindows<LaneBytes, 1>::unpack(at(base), at(packed), prepared, block_bytes, stride_bytes, block_count);
  else if (prepared.shape.period == 3)
    UnpackWindows<LaneBytes, 3>::unpack(at(base), at(packed), prepared, block_bytes, stride_bytes, block_count);
  else
    UnpackWindows<LaneBytes, most_windows>::unpack(at(base), at(packed), prepared, block_bytes, stride_bytes,
                                                   block_count);
}

void unpack_masked_prepared(void* base, const void* packed, const StridedTable& table, std::size_t block_bytes,
                            std::ptrdiff_t stride_bytes, std::size_t block_count) {
  const unsigned char lane = prepared_as<PreparedShape>(table).lane_bytes;
  const std::size_t stride = static_cast<std::size_t>(stride_bytes);
  if (lane == 4) return unpack_prepared_lanes<4>(base, packed, table, block_bytes, stride, block_count);
  if (lane == 2) return unpack_prepared_lanes<2>(base, packed, table, block_bytes, stride, block_count);
#if defined(__AVX512VBMI__)
  if (lane == 1) return unpack_prepared_lanes<1>(base, packed, table, block_bytes, stride, block_count);
#endif
}

}  // namespace
}  // namespace millrace::kernel
