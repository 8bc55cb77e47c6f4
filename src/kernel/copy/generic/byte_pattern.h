// Packing arrays of structs with byte shuffles. Example: {int, double, char[3]}, extent 24, 15 packed bytes.
//
//   source  |aaaa....bbbbbbbb|ccc.....                two loads
//   packed  |aaaabbbbbbbbccc.|                        one store; the next repetition overwrites what is beyond
//
// Each 16 packed bytes of a repetition (or of as many as fit in 16) are a store, put together from a few loads.
#pragma once

#include "kernel/copy/generic/byte_groups.h"
#include "kernel/copy/generic/pieces.h"

namespace millrace::kernel {
namespace {

inline constexpr std::size_t most_pattern_loads = 3, most_pattern_stores = 4;

struct BytePattern {
  std::size_t repetitions;    // of one turn; 0: there is no such shuffle, or it is not worth it
  std::size_t stores, loads;  // of a turn, and for each store
  std::size_t reach_bytes;    // where the last load ends, counted from the lowest piece
  std::size_t load_bytes[most_pattern_stores][most_pattern_loads];
  alignas(byte_vector_bytes) unsigned char index[most_pattern_stores][most_pattern_loads][byte_vector_bytes];
};

// What moving a repetition piece by piece takes, in loads and stores.
inline std::size_t accesses_of_pieces(const Pattern& pattern) {
  std::size_t moves = 0;
  for (std::size_t i = 0; i < pattern.piece_count; ++i) {
    const std::size_t bytes = pattern.pieces[i].bytes;
    moves += bytes <= 32 ? static_cast<std::size_t>(__builtin_popcountll(bytes)) : (bytes + 31) / 32;
  }
  return 2 * moves;
}

inline void prepare_byte_pattern(BytePattern& shuffle, const Pattern& pattern) {
  shuffle.repetitions = 0;
  if (pattern.group_repetitions == 0) return;
  std::size_t repetitions = byte_vector_bytes / pattern.packed_bytes;
  if (repetitions == 0) repetitions = 1;
  if (repetitions > pattern.group_repetitions) repetitions = pattern.group_repetitions;
  const std::size_t packed = repetitions * pattern.packed_bytes;
  shuffle.stores = (packed + byte_vector_bytes - 1) / byte_vector_bytes;
  shuffle.loads = 1;
  shuffle.reach_bytes = 0;
  // What the shuffle makes zero.
  __builtin_memset(shuffle.index, 0x80, shuffle.stores * sizeof shuffle.index[0]);
  __builtin_memset(shuffle.load_bytes, 0, shuffle.stores * sizeof shuffle.load_bytes[0]);
  for (std::size_t store = 0, i = 0; store < shuffle.stores; ++store) {
    // A load begins at the first byte that the loads before it do not have.
    std::size_t loads = 0;
    for (std::size_t to = 0; to < byte_vector_bytes && i < packed; ++to, ++i) {
      const std::size_t from = source_byte(pattern, i);
      std::size_t load = 0;
      while (load < loads && from - shuffle.load_bytes[store][load] >= byte_vector_bytes) ++load;
      if (load == loads) {
        if (++loads > most_pattern_loads) return;
        shuffle.load_bytes[store][load] = from;
        if (from + byte_vector_bytes > shuffle.reach_bytes) shuffle.reach_bytes = from + byte_vector_bytes;
      }
      shuffle.index[store][load][to] = static_cast<unsigned char>(from - shuffle.load_bytes[store][load]);
    }
    if (loads > shuffle.loads) shuffle.loads = loads;
  }
  if (shuffle.stores * (shuffle.loads + 1) < repetitions * accesses_of_pieces(pattern))
    shuffle.repetitions = repetitions;
}

template <std::size_t Stores, std::size_t Loads>
inline void pack_byte_pattern(const BytePattern& shuffle, char* to, const char* from, std::size_t packed_advance,
                              std::size_t advance, std::size_t turns) {
  __m128i index[Stores][Loads];
  for (std::size_t s = 0; s < Stores; ++s)
    for (std::size_t i = 0; i < Loads; ++i) index[s][i] = load_16(shuffle.index[s][i]);
  for (; turns > 0; --turns, to += packed_advance, from += advance)
    for (std::size_t s = 0; s < Stores; ++s) {
      __m128i bytes = _mm_shuffle_epi8(load_16(from + shuffle.load_bytes[s][0]), index[s][0]);
      for (std::size_t i = 1; i < Loads; ++i)
        bytes = _mm_or_si128(bytes, _mm_shuffle_epi8(load_16(from + shuffle.load_bytes[s][i]), index[s][i]));
      store_16(to + s * byte_vector_bytes, bytes);
    }
}

template <std::size_t Stores>
inline void pack_byte_pattern(const BytePattern& shuffle, char* to, const char* from, std::size_t packed_advance,
                              std::size_t advance, std::size_t turns) {
  if (shuffle.loads == 1) pack_byte_pattern<Stores, 1>(shuffle, to, from, packed_advance, advance, turns);
  if (shuffle.loads == 2) pack_byte_pattern<Stores, 2>(shuffle, to, from, packed_advance, advance, turns);
  if (shuffle.loads == 3) pack_byte_pattern<Stores, 3>(shuffle, to, from, packed_advance, advance, turns);
}

void pack_pattern_bytes(void* packed, const void* base, const Pattern& pattern, std::size_t repetitions) {
  BytePattern shuffle;
  std::size_t done = 0;
  prepare_byte_pattern(shuffle, pattern);
  if (shuffle.repetitions > 0 && repetitions > 0) {
    const std::size_t extent = static_cast<std::size_t>(pattern.extent_bytes);
    const std::size_t packed_advance = shuffle.repetitions * pattern.packed_bytes,
                      advance = shuffle.repetitions * extent;
    const std::size_t turns =
        groups_within((repetitions - 1) * extent + pattern.span_bytes, shuffle.reach_bytes, advance,
                      repetitions * pattern.packed_bytes, shuffle.stores * byte_vector_bytes, packed_advance);
    const char* const from = at(base) + pattern.lowest_bytes;
    if (shuffle.stores == 1) pack_byte_pattern<1>(shuffle, at(packed), from, packed_advance, advance, turns);
    if (shuffle.stores == 2) pack_byte_pattern<2>(shuffle, at(packed), from, packed_advance, advance, turns);
    if (shuffle.stores == 3) pack_byte_pattern<3>(shuffle, at(packed), from, packed_advance, advance, turns);
    if (shuffle.stores == 4) pack_byte_pattern<4>(shuffle, at(packed), from, packed_advance, advance, turns);
    done = turns * shuffle.repetitions;
  }
  pack_pattern_blocks(at(packed) + done * pattern.packed_bytes,
                      at(base) + static_cast<std::ptrdiff_t>(done) * pattern.extent_bytes, pattern, repetitions - done);
}

}  // namespace
}  // namespace millrace::kernel
