// Blocks of any lengths. A short one is two moves that overlap, so that the number of branches does not grow with the
// number of possible lengths; a longer one is a loop of vectors whose last overlaps.
#pragma once

#include "kernel/copy/generic/moves.h"

namespace millrace::kernel {
namespace {

inline void move_piece(char* to, const char* from, std::size_t bytes) {
  if (bytes > 8 * vector_bytes) {
    move_long(to, from, bytes);
  } else if (bytes >= vector_bytes) {
    const std::size_t last = bytes - vector_bytes;
    for (std::size_t i = 0; i < last; i += vector_bytes) move_vector<vector_bytes>(to + i, from + i);
    move_vector<vector_bytes>(to + last, from + last);
  } else if (vector_bytes > 32 && bytes >= 32) {
    move_vectors<vector_bytes / 2, 2>(to, from, bytes);
  } else if (vector_bytes > 16 && bytes >= 16) {
    move_vectors<16, 2>(to, from, bytes);
  } else if (bytes >= 8) {
    long long first, last;
    __builtin_memcpy(&first, from, 8);
    __builtin_memcpy(&last, from + bytes - 8, 8);
    __builtin_memcpy(to, &first, 8);
    __builtin_memcpy(to + bytes - 8, &last, 8);
  } else if (bytes >= 4) {
    int first, last;
    __builtin_memcpy(&first, from, 4);
    __builtin_memcpy(&last, from + bytes - 4, 4);
    __builtin_memcpy(to, &first, 4);
    __builtin_memcpy(to + bytes - 4, &last, 4);
  } else if (bytes > 0) {
    const char first = from[0], middle = from[bytes / 2], last = from[bytes - 1];
    to[0] = first;
    to[bytes / 2] = middle;
    to[bytes - 1] = last;
  }
}

void pack_pieces_by_size(void* packed, const void* base, const Piece* pieces, std::size_t piece_count) {
  char* to = at(packed);
  for (std::size_t i = 0; i < piece_count; to += pieces[i++].bytes)
    move_piece(to, at(base) + pieces[i].displacement_bytes, pieces[i].bytes);
}
void unpack_pieces_by_size(void* base, const void* packed, const Piece* pieces, std::size_t piece_count) {
  const char* from = at(packed);
  for (std::size_t i = 0; i < piece_count; from += pieces[i++].bytes)
    move_piece(at(base) + pieces[i].displacement_bytes, from, pieces[i].bytes);
}

// Where packed byte i of a group of repetitions comes from, counted from the lowest piece.
inline std::size_t source_byte(const Pattern& pattern, std::size_t i) {
  const int lane_shift = __builtin_ctzll(pattern.lane_bytes);
  return (std::size_t{pattern.source_lane[i >> lane_shift]} << lane_shift) + (i & (pattern.lane_bytes - 1));
}

// A pattern, piece by piece: each piece of a run of repetitions is a strided copy of a fixed size, so that nothing is
// decided for a single block. A run stays in the first-level cache.
inline constexpr std::size_t pattern_run_bytes = 8192;

inline std::size_t run_repetitions(const Pattern& pattern) {
  const std::ptrdiff_t extent = pattern.extent_bytes < 0 ? -pattern.extent_bytes : pattern.extent_bytes;
  const std::size_t touched = static_cast<std::size_t>(extent) + pattern.packed_bytes;
  return touched >= pattern_run_bytes ? 1 : pattern_run_bytes / (touched + 1) + 1;
}

void pack_pattern_blocks(void* packed, const void* base, const Pattern& pattern, std::size_t repetitions) {
  const std::size_t run = run_repetitions(pattern);
  char* to = at(packed);
  const char* from = at(base);
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(pattern.packed_bytes);
  while (repetitions > 0) {
    const std::size_t n = repetitions < run ? repetitions : run;
    if (n < 4) {
      for (std::size_t r = 0; r < n; ++r)
        pack_pieces_by_size(to + r * pattern.packed_bytes, from + static_cast<std::ptrdiff_t>(r) * pattern.extent_bytes,
                            pattern.pieces, pattern.piece_count);
    } else {
      char* piece_to = to;
      for (std::size_t i = 0; i < pattern.piece_count; piece_to += pattern.pieces[i++].bytes)
        move_blocks(piece_to, step, from + pattern.pieces[i].displacement_bytes, pattern.extent_bytes,
                    pattern.pieces[i].bytes, n);
    }
    to += n * pattern.packed_bytes;
    from += static_cast<std::ptrdiff_t>(n) * pattern.extent_bytes;
    repetitions -= n;
  }
}
void unpack_pattern_blocks(void* base, const void* packed, const Pattern& pattern, std::size_t repetitions) {
  const std::size_t run = run_repetitions(pattern);
  char* to = at(base);
  const char* from = at(packed);
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(pattern.packed_bytes);
  while (repetitions > 0) {
    const std::size_t n = repetitions < run ? repetitions : run;
    if (n < 4) {
      for (std::size_t r = 0; r < n; ++r)
        unpack_pieces_by_size(to + static_cast<std::ptrdiff_t>(r) * pattern.extent_bytes,
                              from + r * pattern.packed_bytes, pattern.pieces, pattern.piece_count);
    } else {
      const char* piece_from = from;
      for (std::size_t i = 0; i < pattern.piece_count; piece_from += pattern.pieces[i++].bytes)
        move_blocks(to + pattern.pieces[i].displacement_bytes, pattern.extent_bytes, piece_from, step,
                    pattern.pieces[i].bytes, n);
    }
    to += static_cast<std::ptrdiff_t>(n) * pattern.extent_bytes;
    from += n * pattern.packed_bytes;
    repetitions -= n;
  }
}

}  // namespace
}  // namespace millrace::kernel
