// What a copy unit (the translation unit of one instruction set in units/copy_*.cpp) exports: one CopySet, nothing
// else. As for kernel_set.h: no STL and no inline functions here.
#pragma once

#include <cstddef>

#include "kernel/copy/copy.h"

namespace millrace::kernel {

using PackStrided = void (*)(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                             std::size_t block_count);
using UnpackStrided = void (*)(void* base, const void* packed, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                               std::size_t block_count);
using PackIndexed = void (*)(void* packed, const void* base, const std::ptrdiff_t* displacements_bytes,
                             std::size_t block_bytes, std::size_t block_count);
using UnpackIndexed = void (*)(void* base, const void* packed, const std::ptrdiff_t* displacements_bytes,
                               std::size_t block_bytes, std::size_t block_count);
using PackPieces = void (*)(void* packed, const void* base, const Piece* pieces, std::size_t piece_count);
using UnpackPieces = void (*)(void* base, const void* packed, const Piece* pieces, std::size_t piece_count);
using PackPattern = void (*)(void* packed, const void* base, const Pattern& pattern, std::size_t repetitions);
using UnpackPattern = void (*)(void* base, const void* packed, const Pattern& pattern, std::size_t repetitions);

// What the shuffles of a strided shape need before the first byte moves (lane numbers, masks, offsets), worked out
// once, when a datatype is compiled. What is inside is the business of the unit that filled it, and only that unit
// reads it.
struct alignas(64) StridedTable {
  unsigned char bytes[1536];
};
// Fills a table; false if the unit has no shuffle for this shape (the table is not used then).
using PrepareStrided = bool (*)(StridedTable& table, std::size_t block_bytes, std::ptrdiff_t stride_bytes);
// pack_permute and unpack_masked with a table that was filled for the same block and stride. As right for every count
// and alignment as without.
using PackPrepared = void (*)(void* packed, const void* base, const StridedTable& table, std::size_t block_bytes,
                              std::ptrdiff_t stride_bytes, std::size_t block_count);
using UnpackPrepared = void (*)(void* base, const void* packed, const StridedTable& table, std::size_t block_bytes,
                                std::ptrdiff_t stride_bytes, std::size_t block_count);
using Transpose = void (*)(void* to, std::ptrdiff_t to_stride_bytes, const void* from, std::ptrdiff_t from_stride_bytes,
                           std::size_t rows, std::size_t columns);

// The strategies. Every one is right for every shape (what it cannot do it gives to `blocks`); which is fast where is
// for the chooser to know.
enum class CopyKernel : unsigned char {
  blocks,   // pack_blocks, unpack_blocks: one or a few moves of the block's exact size, blocks interleaved
  wide,     // pack_wide: one vector for each block, longer than the block: the next block overwrites the rest
  permute,  // pack_permute: several blocks gathered from a few vectors by a shuffle;
            // unpack_masked: a shuffle spreads the blocks, a masked store leaves the gaps alone
  gather,   // pack_gather: gather instructions; unpack_scatter: scatter instructions
  twice,    // unpack_twice: as blocks, each stored twice; no packing
};
inline constexpr std::size_t copy_kernel_count = 5;

// What a unit's shuffles do for a shape: something that takes fewer loads (packing) or stores (unpacking) than there
// are blocks, with lanes that were known when the unit was compiled (fixed) or that each call works out (by_table).
enum class Shuffle : unsigned char { none, fixed, by_table };
using FitsShuffles = Shuffle (*)(std::size_t block_bytes, std::ptrdiff_t stride_bytes);

struct CopySet {
  const char* isa;
  // Blocks and strides must be multiples of this for the shuffles (0: there are none) ...
  std::size_t permute_lane_bytes;
  // ... where a unit does not say itself what they do.
  FitsShuffles fits_pack, fits_unpack;
  // The form of each strategy, null where the instruction set has none; blocks is never null.
  PackStrided pack_strided[copy_kernel_count];
  UnpackStrided unpack_strided[copy_kernel_count];
  PackIndexed pack_indexed[copy_kernel_count];
  UnpackIndexed unpack_indexed[copy_kernel_count];
  PackPieces pack_pieces;
  UnpackPieces unpack_pieces;
  // Of `permute`, all four or none; null where there is nothing worth preparing. See kernel/copy/strided.h.
  PrepareStrided prepare_pack, prepare_unpack;
  PackPrepared pack_prepared;
  UnpackPrepared unpack_prepared;
  PackPattern pack_pattern[copy_kernel_count];
  UnpackPattern unpack_pattern[copy_kernel_count];
  Transpose transpose[5];  // by the logarithm of the item's bytes; never null
};

extern const CopySet scalar_copy_unit;
#if defined(__x86_64__)
extern const CopySet sse42_copy_unit;
extern const CopySet avx2_copy_unit;
extern const CopySet avx512_copy_unit;
extern const CopySet avx512_vbmi_copy_unit;
#elif defined(__aarch64__)
extern const CopySet neon_copy_unit;
extern const CopySet sve_copy_unit;
#endif

}  // namespace millrace::kernel
