// Packing with one vector for each block, longer than the block: one load and one store where the exact size needs two
// of each. What is stored beyond the block is overwritten by the next one. Only for blocks from which a whole vector
// can be read without leaving the source, and after which a whole vector fits; the last ones are moved exactly.
#pragma once

#include "kernel/copy/generic/moves.h"

namespace millrace::kernel {
namespace {

template <std::size_t Bytes>
inline std::size_t pack_overrunning(char* to, const char* from, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                                    std::size_t block_count) {
  const std::size_t excess = Bytes - block_bytes;
  const std::size_t nearer =
      static_cast<std::size_t>(stride_bytes) < block_bytes ? static_cast<std::size_t>(stride_bytes) : block_bytes;
  const std::size_t last = (excess + nearer - 1) / nearer;
  if (block_count <= last) return 0;
  each_block(to, static_cast<std::ptrdiff_t>(block_bytes), from, stride_bytes, block_count - last,
             [](char* t, const char* f) { move_vector<Bytes>(t, f); });
  return block_count - last;
}

void pack_wide(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
               std::size_t block_count) {
  std::size_t done = 0;
  if (stride_bytes > 0 && block_bytes > 0) {
    if (block_bytes < 16)
      done = pack_overrunning<16>(at(packed), at(base), block_bytes, stride_bytes, block_count);
    else if (vector_bytes >= 32 && block_bytes > 16 && block_bytes < 32)
      done = pack_overrunning<32>(at(packed), at(base), block_bytes, stride_bytes, block_count);
  }
  pack_blocks(at(packed) + done * block_bytes, at(base) + static_cast<std::ptrdiff_t>(done) * stride_bytes, block_bytes,
              stride_bytes, block_count - done);
}

}  // namespace
}  // namespace millrace::kernel
