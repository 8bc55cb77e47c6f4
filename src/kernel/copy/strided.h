// A strided shape prepared once (when a datatype is compiled), for any number of calls and threads: the choice of the
// kernel is made for every count, and the table of its shuffle is there before the first byte moves.
//
// A unit takes part by filling prepare_pack, prepare_unpack, pack_prepared and unpack_prepared of its CopySet: nothing
// above the kernels knows what is in a table. Shapes that are prepared for another unit or another tuning than those in
// use are run as if they were not: right, if slower.
#pragma once

#include "kernel/copy/copy.h"
#include "kernel/copy/copy_set.h"
#include "kernel/isa.h"

namespace millrace::kernel {

struct Strided {
  std::size_t block_bytes;
  std::ptrdiff_t stride_bytes;
  unsigned epoch;  // choices_epoch for which it was prepared
  PackPrepared pack;
  UnpackPrepared unpack;
  // The counts of blocks for which the chooser wants the shuffle, first and last; none if last < first.
  std::size_t pack_from_blocks, pack_to_blocks, unpack_from_blocks, unpack_to_blocks;
  StridedTable pack_table, unpack_table;
};

// False if no count of these blocks would be shuffled: then there is nothing to prepare.
bool prepare_strided(Strided& shape, std::size_t block_bytes, std::ptrdiff_t stride_bytes);

// As those of copy.h.
inline void pack_strided(void* packed, const void* base, const Strided& shape, std::size_t block_count) {
  if (block_count >= shape.pack_from_blocks && block_count <= shape.pack_to_blocks &&
      shape.epoch == choices_epoch.load(std::memory_order_acquire))
    return shape.pack(packed, base, shape.pack_table, shape.block_bytes, shape.stride_bytes, block_count);
  pack_strided(packed, base, shape.block_bytes, shape.stride_bytes, block_count);
}
inline void unpack_strided(void* base, const void* packed, const Strided& shape, std::size_t block_count) {
  if (block_count >= shape.unpack_from_blocks && block_count <= shape.unpack_to_blocks &&
      shape.epoch == choices_epoch.load(std::memory_order_acquire))
    return shape.unpack(base, packed, shape.unpack_table, shape.block_bytes, shape.stride_bytes, block_count);
  unpack_strided(base, packed, shape.block_bytes, shape.stride_bytes, block_count);
}

}  // namespace millrace::kernel
