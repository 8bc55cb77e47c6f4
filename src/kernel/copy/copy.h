// Copies between packed bytes and blocks with gaps, in process. `packed` is contiguous; `base` is where displacement 0
// of the blocks lies. The order of packed bytes is the order in which the blocks are named.
//
// For every function here:
// - packing reads nothing outside [first byte of the lowest block, last byte of the highest block], but may read gaps;
// - unpacking writes nothing but the blocks: no gap byte, not even with the value it had;
// - packed bytes and blocks do not overlap; blocks may overlap each other when packing, never when unpacking;
// - counts and sizes of 0 are allowed (nothing is touched), strides and displacements may be negative, any alignment;
// - a copy of a part (from the middle of a block on) is up to the caller: whole blocks only;
// - thread-safe, depends on nothing but libc, cannot fail. Costs a few nanoseconds besides the copy.
#pragma once

#include <cstddef>

namespace millrace::kernel {

// block i of block_count: `block_bytes` at base + i * stride_bytes.
void pack_strided(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                  std::size_t block_count);
void unpack_strided(void* base, const void* packed, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                    std::size_t block_count);

// Two loops: for o < outer_count, for i < inner_count: `block_bytes` at base + o * outer_stride + i * inner_stride.
// Tiles of matrices (rows as blocks), sets of columns, repetitions of a vector.
struct Nest2 {
  std::size_t block_bytes;
  std::ptrdiff_t inner_stride_bytes;
  std::size_t inner_count;
  std::ptrdiff_t outer_stride_bytes;
  const struct Strided* inner = nullptr;  // the inner loop prepared (strided.h), if it is
};
void pack_nest2(void* packed, const void* base, const Nest2& nest, std::size_t outer_count);
void unpack_nest2(void* base, const void* packed, const Nest2& nest, std::size_t outer_count);

// A matrix of `rows` x `columns` items turned over: item (row, column) at from + row * from_stride_bytes + column *
// item_bytes goes to to + column * to_stride_bytes + row * item_bytes. Packs columns that lie side by side (`to`
// packed) and unpacks them (`from` packed). Rows of `to` do not overlap each other. Writes some items twice, with the
// same value.
constexpr bool can_transpose(std::ptrdiff_t item_bytes) {
  return item_bytes == 1 || item_bytes == 2 || item_bytes == 4 || item_bytes == 8 || item_bytes == 16;
}
void transpose(void* to, std::ptrdiff_t to_stride_bytes, const void* from, std::ptrdiff_t from_stride_bytes,
               std::size_t item_bytes, std::size_t rows, std::size_t columns);

// block i: `block_bytes` at base + displacements_bytes[i].
void pack_indexed(void* packed, const void* base, const std::ptrdiff_t* displacements_bytes, std::size_t block_bytes,
                  std::size_t block_count);
void unpack_indexed(void* base, const void* packed, const std::ptrdiff_t* displacements_bytes, std::size_t block_bytes,
                    std::size_t block_count);

// Blocks of any lengths.
struct Piece {
  std::ptrdiff_t displacement_bytes;
  std::size_t bytes;
};
void pack_pieces(void* packed, const void* base, const Piece* pieces, std::size_t piece_count);
void unpack_pieces(void* base, const void* packed, const Piece* pieces, std::size_t piece_count);

// A short list of pieces repeated at an extent: arrays of structs. Prepared once (when a datatype is compiled), used by
// any number of threads; `pieces` must live as long. Zero-length pieces are allowed.
struct Pattern {
  const Piece* pieces;
  std::size_t piece_count;
  std::ptrdiff_t extent_bytes;
  std::size_t packed_bytes;  // of one repetition
  // For the kernels; see prepare_pattern() in pattern.cpp.
  std::size_t lane_bytes;          // the largest of 4, 2 and 1 that divides everything
  std::ptrdiff_t lowest_bytes;     // where the lowest piece begins
  std::size_t span_bytes;          // from there to the end of the highest
  bool disjoint_repetitions;       // extent positive, no piece beyond the extent, none on top of another
  std::size_t group_repetitions;   // repetitions of which the packed bytes fit in 64; 0: no shuffle does it
  unsigned char source_lane[64];   // lane i of a packed group is this lane of the source, counted from lowest_bytes
  unsigned char packed_lane[128];  // lane i of an extent is this packed lane, or pattern_gap
};
inline constexpr int pattern_gap = 127;
void prepare_pattern(Pattern& pattern, const Piece* pieces, std::size_t piece_count, std::ptrdiff_t extent_bytes);
void pack_pattern(void* packed, const void* base, const Pattern& pattern, std::size_t repetitions);
void unpack_pattern(void* base, const void* packed, const Pattern& pattern, std::size_t repetitions);

}  // namespace millrace::kernel
