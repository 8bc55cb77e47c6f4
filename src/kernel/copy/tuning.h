// What the chooser knows about a processor. Defaults by family, from measurements (docs/results/copies.md) and, for
// processors that were not at hand, from those of the project's design; `millrace tune` may replace them.
#pragma once

#include <cstddef>

#include "kernel/copy/copy_set.h"

namespace millrace::kernel {

struct CopyTuning {
  // Below this many packed bytes, making the table for the shuffles costs more than they save.
  std::size_t permute_from_bytes;
  // Where there is no table to make (Shuffle::fixed), what is done at the ends of a copy does.
  std::size_t fixed_permute_from_bytes;
  // Blocks up to this size are packed by shuffles.
  std::size_t permute_pack_to_block_bytes;
  // Unpacked under a mask if moving the blocks one by one takes at least this many moves for 64 bytes (0: never)
  std::size_t masked_from_moves_a_vector;
  // (the same, moves for 64 bytes, for AVX2's shorter masked stores and NEON's stores of single lanes) ...
  std::size_t short_masked_from_moves;
  // ... and the destination is not larger than this: where masked stores that miss the cache are slow.
  std::size_t masked_to_touched_bytes;
  // As many blocks of 4, 8, 16 or 32 bytes, an odd number of times 512 bytes apart, are each stored twice.
  std::size_t twice_from_blocks;
  // Whether listed blocks of 4 and 8 bytes are gathered, or scattered.
  bool gather_lists, scatter_lists;
  // Lists of fewer blocks than this are unpacked without asking for their lines before (see copy.cpp).
  std::size_t fetch_unpacked_from_blocks;
  // Lists of more packed bytes than this, of one element, are left to the host (layout/worth.cpp).
  std::size_t listed_to_bytes;
  // From here on, packed bytes go past the caches by non-temporal stores.
  std::size_t stream_from_bytes;
};

// Those in use. Thread-safe.
const CopyTuning& copy_tuning();

// For all threads, from their next call on. `tuning` must live as long as the process.
void use_copy_tuning(const CopyTuning& tuning);

// The default for this processor.
const CopyTuning& default_copy_tuning();

// What the functions of copy.h would run for a shape.
CopyKernel choose_pack(const CopySet& set, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                       std::size_t block_count);
CopyKernel choose_unpack(const CopySet& set, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                         std::size_t block_count);
CopyKernel choose_pack_pattern(const CopySet& set, const Pattern& pattern, std::size_t repetitions);
CopyKernel choose_unpack_pattern(const CopySet& set, const Pattern& pattern, std::size_t repetitions);
// "pack_permute", "unpack_masked", ...
const char* pack_kernel_name(CopyKernel kernel);
const char* unpack_kernel_name(CopyKernel kernel);

}  // namespace millrace::kernel
