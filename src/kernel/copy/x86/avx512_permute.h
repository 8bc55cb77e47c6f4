// Packing small blocks at small strides: whole vectors of packed bytes. See avx512_windows.h.
#pragma once

#include "kernel/copy/x86/avx512_phases.h"

namespace millrace::kernel {
namespace {

// How many vectors of the source a window of packed bytes is made from: 1 to 4; 0 if shuffles cannot do it. Windows
// start `start_bytes` after the first packed byte.
template <std::size_t LaneBytes>
inline int vectors_of_windows(std::size_t start_bytes, std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
  const std::size_t stride = static_cast<std::size_t>(stride_bytes < 0 ? -stride_bytes : stride_bytes);
  if (block_bytes == 0 || block_bytes > line_bytes || stride == 0 || stride > 256 || block_bytes % LaneBytes ||
      stride % LaneBytes || period_of(block_bytes) > most_windows)
    return 0;
  const bool whole_blocks = is_power_of_two(block_bytes) && (start_bytes & (block_bytes - 1)) == 0;
  // The first and the last block of a window may be there in part.
  const std::size_t blocks = whole_blocks ? line_bytes / block_bytes : (line_bytes - LaneBytes) / block_bytes + 2;
  const std::size_t span = (blocks - 1) * stride + block_bytes;
  return span <= 256 ? static_cast<int>((span + 63) / 64) : 0;
}

template <std::size_t LaneBytes>
inline std::size_t first_window(const void* packed) {
  const std::size_t start = (line_bytes - reinterpret_cast<std::uintptr_t>(packed) % line_bytes) % line_bytes;
  return start % LaneBytes ? 0 : start;
}

// The first packed byte, less than a line from the beginning and at the beginning of a block, from which on no load
// straddles two lines; 0 if there is none. Windows take more loads than stores: on Zen 5 vector(1,2,int) of 8 KiB takes
// 62 to 72 ns with loads in line, 93 with stores in line.
inline std::size_t first_window_of_source(const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
  std::uintptr_t from = reinterpret_cast<std::uintptr_t>(base);
  const auto stride = static_cast<std::uintptr_t>(stride_bytes);
  if ((from & (stride ^ (stride - 1)) >> 1 & (line_bytes - 1)) != 0) return 0;  // no multiple of it helps
  for (std::size_t start = 0; start < line_bytes; start += block_bytes, from += stride)
    if (from % line_bytes == 0) return start;
  return 0;
}

// `Vectors`: from how many vectors of the source a window is made.
template <std::size_t LaneBytes, int Vectors, std::size_t Most>
struct PackWindows {
  using W = Windows<LaneBytes, Most>;
  using L = Lanes<LaneBytes>;

  static __m512i combine(const W& table, std::size_t v, const __m512i* parts) {
    if constexpr (Vectors == 1) return L::pick(table.index[v], parts[0]);
    const __m512i low = L::pick(table.index[v], parts[0], parts[1]);
    if constexpr (Vectors == 2) return low;
    // Indices count on: the shuffle of the second two takes them modulo both.
    if constexpr (Vectors == 3) return L::blend_pick(low, table.mask[v], table.index[v], parts[2]);
    return L::blend(table.mask[v], low, L::pick(table.index[v], parts[2], parts[3]));
  }
  static __m512i window(const W& table, std::size_t v, const char* from) {
    __m512i parts[Vectors];
    for (int part = 0; part < Vectors; ++part) parts[part] = _mm512_loadu_si512(from + part * 64);
    return combine(table, v, parts);
  }
  static __m512i window(const W& table, std::size_t v, const char* from, std::ptrdiff_t readable_bytes) {
    __m512i parts[Vectors];
    for (int part = 0; part < Vectors; ++part)
      parts[part] = _mm512_maskz_loadu_epi8(first_bytes(readable_bytes - part * 64), from + part * 64);
    return combine(table, v, parts);
  }

  // The lowest lane that a window needs: of its first block, or of the last where the stride is negative, or of the
  // second where blocks overlap.
  static int lowest_lane(std::size_t first_block, std::size_t last_block, int within, int stride) {
    int lowest = static_cast<int>(first_block) * stride + within;
    if (last_block == first_block) return lowest;
    const int of_last = static_cast<int>(last_block) * stride, of_second = static_cast<int>(first_block + 1) * stride;
    lowest = of_last < lowest ? of_last : lowest;
    return of_second < lowest ? of_second : lowest;
  }

  // A period of windows from `start_bytes` on.
  static void prepare(W& table, std::size_t start_bytes, std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
    const int run = static_cast<int>(block_bytes / LaneBytes), stride = static_cast<int>(stride_bytes) / W::lane_bytes;
    std::size_t block = 0, within = start_bytes;
    for (std::size_t v = 0; v < table.period; ++v) {
      std::size_t last_block = block, last_within = within + line_bytes;
      if constexpr (Most == 1)
        last_block = (last_within - 1) >> __builtin_ctzll(block_bytes);
      else
        for (; last_within > block_bytes; last_within -= block_bytes) ++last_block;
      const int lowest = lowest_lane(block, last_block, static_cast<int>(within / LaneBytes), stride);
      __m512i lanes[4];
      for (int part = 0; part < L::count / 16; ++part)
        W::numbers(lanes[part], part, start_bytes + v * line_bytes, run, run, stride, lowest);
      table.index[v] = L::narrow(lanes);
      if constexpr (Vectors > 2) table.mask[v] = static_cast<typename L::Mask>(~L::below(table.index[v], 2 * L::count));
      table.offset_bytes[v] = std::ptrdiff_t{lowest} * W::lane_bytes;
      block = last_block + (last_within == block_bytes);
      within = last_within == block_bytes ? 0 : last_within;
    }
  }

  // Whole windows of a period of one, `turns` of them.
  static void repeat(const W& table, char* to, const char* from, std::ptrdiff_t advance, std::size_t turns) {
    // Two windows are made from three vectors that lie end to end: load the middle one once.
    if (Vectors == 2 && advance == 96) {
      const __m512i first = table.index[0], second = L::add(first, 32 / W::lane_bytes);
      for (; turns >= 4; turns -= 4, to += 256, from += 384) {
        const __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + 64),
                      c = _mm512_loadu_si512(from + 128), d = _mm512_loadu_si512(from + 192),
                      e = _mm512_loadu_si512(from + 256), f = _mm512_loadu_si512(from + 320);
        _mm512_storeu_si512(to, L::pick(first, a, b));
        _mm512_storeu_si512(to + 64, L::pick(second, b, c));
        _mm512_storeu_si512(to + 128, L::pick(first, d, e));
        _mm512_storeu_si512(to + 192, L::pick(second, e, f));
      }
    }
    for (; turns >= 4; turns -= 4, to += 256, from += 4 * advance) {
      const __m512i a = window(table, 0, from), b = window(table, 0, from + advance),
                    c = window(table, 0, from + 2 * advance), d = window(table, 0, from + 3 * advance);
      _mm512_storeu_si512(to, a);
      _mm512_storeu_si512(to + 64, b);
      _mm512_storeu_si512(to + 128, c);
      _mm512_storeu_si512(to + 192, d);
    }
    for (; turns > 0; --turns, to += line_bytes, from += advance) _mm512_storeu_si512(to, window(table, 0, from));
  }

  // One byte after the highest of the source.
  static const char* end_of_source(const char* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                                   std::size_t block_count) {
    return stride_bytes < 0 ? base + block_bytes
                            : base + static_cast<std::ptrdiff_t>(block_count - 1) * stride_bytes + block_bytes;
  }

  // With a negative stride the first blocks are the highest: vectors must not reach beyond them.
  static std::size_t start_below_highest(std::size_t start, std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
    const std::size_t blocks =
        static_cast<std::size_t>(Vectors) * 64 / static_cast<std::size_t>(-stride_bytes) + 2 + line_bytes / block_bytes;
    while (start < blocks * block_bytes) start += line_bytes;
    return start;
  }

  static void pack(char* packed, const char* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                   std::size_t block_count) {
    const std::size_t total = block_count * block_bytes;
    std::size_t start = first_window<LaneBytes>(packed);
    if (stride_bytes < 0) start = start_below_highest(start, block_bytes, stride_bytes);
    if (start + 2 * line_bytes > total) return pack_blocks(packed, base, block_bytes, stride_bytes, block_count);
    std::size_t skipped_blocks = 0;
    if (start > 0) {
      skipped_blocks = start / block_bytes;
      // A block that lies on both sides of `start` is stored here and once more by the first window: the same bytes.
      pack_blocks(packed, base, block_bytes, stride_bytes, (start + block_bytes - 1) / block_bytes);
    }
    W table;
    table.period = Most == 1 ? 1 : period_of(block_bytes);
    prepare(table, start - skipped_blocks * block_bytes, block_bytes, stride_bytes);
    run(table, packed, start, skipped_blocks, base, block_bytes, stride_bytes, block_count);
  }

  // With what was prepared, for positive strides and at least two windows after `start`.
  static void pack(char* packed, const char* base, const PreparedTable<LaneBytes>& prepared, std::size_t start,
                   std::size_t block_bytes, std::ptrdiff_t stride_bytes, std::size_t block_count) {
    std::size_t skipped_blocks = 0;
    W table;
    table.period = 1;
    if (start > 0) {
      // What lies before it, and some of what comes after, as a window across the two.
      take_windows(table, prepared.phases, 0, block_bytes, stride_bytes);
      const char* const from = base + table.offset_bytes[0];
      const std::ptrdiff_t readable = end_of_source(base, block_bytes, stride_bytes, block_count) - from;
      _mm512_storeu_si512(packed, readable >= Vectors * 64 ? window(table, 0, from) : window(table, 0, from, readable));
      skipped_blocks = static_cast<unsigned>(start) / static_cast<unsigned>(block_bytes);
    }
    if constexpr (Most > 1) table.period = prepared.shape.period;
    take_windows(table, prepared.phases, start - skipped_blocks * block_bytes, block_bytes, stride_bytes);
    run(table, packed, start, skipped_blocks, base, block_bytes, stride_bytes, block_count);
  }

  // All windows from the first cache line on.
  static void run(W& table, char* packed, std::size_t start, std::size_t skipped_blocks, const char* base,
                  std::size_t block_bytes, std::ptrdiff_t stride_bytes, std::size_t block_count) {
    const char* from = base + static_cast<std::ptrdiff_t>(skipped_blocks) * stride_bytes;
    char* to = packed + start;
    char* const end = packed + block_count * block_bytes;
    const char* const source_end = end_of_source(base, block_bytes, stride_bytes, block_count);
    std::ptrdiff_t advance;
    if constexpr (Most == 1) {
      advance = stride_bytes * static_cast<std::ptrdiff_t>(line_bytes >> __builtin_ctzll(block_bytes));
      from += table.offset_bytes[0];
      table.offset_bytes[0] = 0;
      std::size_t turns = static_cast<std::size_t>(end - to) / line_bytes;
      // The vectors of the last windows may reach beyond the source: how many surely do not.
      while (turns > 0 && advance > 0 &&
             from + static_cast<std::ptrdiff_t>(turns - 1) * advance + Vectors * 64 > source_end)
        --turns;
      repeat(table, to, from, advance, turns);
      to += turns * line_bytes;
      from += static_cast<std::ptrdiff_t>(turns) * advance;
    } else {
      const std::ptrdiff_t bytes_a_period = static_cast<std::ptrdiff_t>(table.period * line_bytes);
      advance = bytes_a_period / static_cast<std::ptrdiff_t>(block_bytes) * stride_bytes;
      std::ptrdiff_t farthest = 0;
      for (std::size_t v = 0; v < table.period; ++v)
        farthest = table.offset_bytes[v] > farthest ? table.offset_bytes[v] : farthest;
      farthest += Vectors * 64;
      while (end - to >= bytes_a_period && (stride_bytes < 0 || source_end - from >= farthest)) {
        for (std::size_t v = 0; v < table.period; ++v, to += line_bytes)
          _mm512_storeu_si512(to, window(table, v, from + table.offset_bytes[v]));
        from += advance;
      }
    }
    // The rest, with masks.
    for (std::size_t v = 0; to < end; to += line_bytes) {
      const char* const at_window = from + table.offset_bytes[v];
      const std::ptrdiff_t left = end - to;
      if (left >= static_cast<std::ptrdiff_t>(line_bytes) && source_end - at_window >= Vectors * 64) {
        _mm512_storeu_si512(to, window(table, v, at_window));
      } else if (stride_bytes < 0 && left < static_cast<std::ptrdiff_t>(line_bytes)) {
        // The lowest lane of a whole window would lie below the source.
        const std::size_t done = static_cast<std::size_t>(to - packed) / block_bytes;
        return pack_blocks(packed + done * block_bytes, base + static_cast<std::ptrdiff_t>(done) * stride_bytes,
                           block_bytes, stride_bytes, block_count - done);
      } else {
        const __m512i value = window(table, v, at_window, source_end - at_window);
        _mm512_mask_storeu_epi8(to, first_bytes(left), value);
      }
      if (++v == table.period) {
        v = 0;
        from += advance;
      }
    }
  }
};

template <std::size_t LaneBytes, int Vectors>
inline bool pack_windows(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                         std::size_t block_count) {
  if (is_power_of_two(block_bytes))
    PackWindows<LaneBytes, Vectors, 1>::pack(at(packed), at(base), block_bytes, stride_bytes, block_count);
  else
    PackWindows<LaneBytes, Vectors, most_windows>::pack(at(packed), at(base), block_bytes, stride_bytes, block_count);
  return true;
}

template <std::size_t LaneBytes>
inline bool pack_permute_lanes(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                               std::size_t block_count) {
  switch (vectors_of_windows<LaneBytes>(first_window<LaneBytes>(packed), block_bytes, stride_bytes)) {
    case 1: return pack_windows<LaneBytes, 1>(packed, base, block_bytes, stride_bytes, block_count);
    case 2: return pack_windows<LaneBytes, 2>(packed, base, block_bytes, stride_bytes, block_count);
    case 3: return pack_windows<LaneBytes, 3>(packed, base, block_bytes, stride_bytes, block_count);
    case 4: return pack_windows<LaneBytes, 4>(packed, base, block_bytes, stride_bytes, block_count);
    default: return false;
  }
}

void pack_permute(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                  std::size_t block_count) {
  if (pack_permute_lanes<4>(packed, base, block_bytes, stride_bytes, block_count)) return;
  if (pack_permute_lanes<2>(packed, base, block_bytes, stride_bytes, block_count)) return;
#if defined(__AVX512VBMI__)
  if (pack_permute_lanes<1>(packed, base, block_bytes, stride_bytes, block_count)) return;
#endif
  pack_blocks(packed, base, block_bytes, stride_bytes, block_count);
}

template <std::size_t LaneBytes>
inline bool prepare_pack_lanes(StridedTable& table, std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
  if (block_bytes % LaneBytes || stride_bytes % static_cast<std::ptrdiff_t>(LaneBytes) ||
      block_bytes > most_phases * LaneBytes)
    return false;
  const int whole = vectors_of_windows<LaneBytes>(0, block_bytes, stride_bytes);
  const int cut = vectors_of_windows<LaneBytes>(LaneBytes, block_bytes, stride_bytes);
  if (whole == 0) return false;
  auto& prepared = prepared_as<PreparedTable<LaneBytes>>(table);
  prepared.shape = {LaneBytes, static_cast<unsigned char>(period_of(block_bytes)), static_cast<unsigned char>(whole),
                    static_cast<unsigned char>(cut)};
  using OfFour = PackWindows<LaneBytes, 4, most_windows>;
  for (std::size_t phase = 0; phase * LaneBytes < block_bytes; ++phase) {
    typename OfFour::W window;
    window.period = 1;
    OfFour::prepare(window, phase * LaneBytes, block_bytes, stride_bytes);
    prepared.phases.index[phase] = window.index[0];
    prepared.phases.mask[phase] = window.mask[0];
    prepared.phases.offset_bytes[phase] = static_cast<int>(window.offset_bytes[0]);
  }
  return true;
}

bool prepare_pack_permute(StridedTable& table, std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
  if (block_bytes == 0 || stride_bytes <= 0) return false;
  if (prepare_pack_lanes<4>(table, block_bytes, stride_bytes)) return true;
  if (prepare_pack_lanes<2>(table, block_bytes, stride_bytes)) return true;
#if defined(__AVX512VBMI__)
  if (prepare_pack_lanes<1>(table, block_bytes, stride_bytes)) return true;
#endif
  return false;
}

template <std::size_t LaneBytes, int Vectors>
inline void pack_prepared_windows(char* packed, const char* base, const PreparedTable<LaneBytes>& prepared,
                                  std::size_t start, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                                  std::size_t block_count) {
  if (prepared.shape.period == 1)
    PackWindows<LaneBytes, Vectors, 1>::pack(packed, base, prepared, start, block_bytes, stride_bytes, block_count);
  else
    PackWindows<LaneBytes, Vectors, most_windows>::pack(packed, base, prepared, start, block_bytes, stride_bytes,
                                                        block_count);
}

template <std::size_t LaneBytes>
inline void pack_prepared_lanes(void* packed, const void* base, const StridedTable& table, std::size_t block_bytes,
                                std::ptrdiff_t stride_bytes, std::size_t block_count) {
  const auto& prepared = prepared_as<PreparedTable<LaneBytes>>(table);
  const std::size_t start = first_window_of_source(base, block_bytes, stride_bytes);
  const bool whole = prepared.shape.period == 1;  // windows begin with a block
  if (block_count * block_bytes >= start + 2 * line_bytes)
    switch (whole ? prepared.shape.whole_vectors : prepared.shape.cut_vectors) {
      case 1:
        return pack_prepared_windows<LaneBytes, 1>(at(packed), at(base), prepared, start, block_bytes, stride_bytes,
                                                   block_count);
      case 2:
        return pack_prepared_windows<LaneBytes, 2>(at(packed), at(base), prepared, start, block_bytes, stride_bytes,
                                                   block_count);
      case 3:
        return pack_prepared_windows<LaneBytes, 3>(at(packed), at(base), prepared, start, block_bytes, stride_bytes,
                                                   block_count);
      case 4:
        return pack_prepared_windows<LaneBytes, 4>(at(packed), at(base), prepared, start, block_bytes, stride_bytes,
                                                   block_count);
      default: break;
    }
  pack_blocks(packed, base, block_bytes, stride_bytes, block_count);
}

void pack_permute_prepared(void* packed, const void* base, const StridedTable& table, std::size_t block_bytes,
                           std::ptrdiff_t stride_bytes, std::size_t block_count) {
  const unsigned char lane = prepared_as<PreparedShape>(table).lane_bytes;
  if (lane == 4) return pack_prepared_lanes<4>(packed, base, table, block_bytes, stride_bytes, block_count);
  if (lane == 2) return pack_prepared_lanes<2>(packed, base, table, block_bytes, stride_bytes, block_count);
#if defined(__AVX512VBMI__)
  if (lane == 1) return pack_prepared_lanes<1>(packed, base, table, block_bytes, stride_bytes, block_count);
#endif
}

}  // namespace
}  // namespace millrace::kernel
