#include "kernel/copy/copy.h"

#include "kernel/copy/copy_streaming.h"
#include "kernel/copy/row.h"
#include "kernel/copy/strided.h"
#include "kernel/copy/tuning.h"
#include "kernel/copy/units.h"

namespace millrace::kernel {
namespace {

char* bytes_of(void* buffer) { return static_cast<char*>(buffer); }
const char* bytes_of(const void* buffer) { return static_cast<const char*>(buffer); }
// Shorter than any that a kernel prefetches (lists.h).
constexpr std::size_t most_unfetched_blocks = 2048;

std::size_t slot(CopyKernel kernel) { return static_cast<std::size_t>(kernel); }

}  // namespace

void pack_strided(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                  std::size_t block_count) {
  const std::size_t total = block_bytes * block_count;
  if (static_cast<std::ptrdiff_t>(block_bytes) == stride_bytes || block_count <= 1) {
    if (total) copy_row(packed, base, total);
    return;
  }
  const CopySet& set = active_copies();
  const PackStrided pack = set.pack_strided[slot(choose_pack(set, block_bytes, stride_bytes, block_count))];
  if (total >= copy_tuning().stream_from_bytes)
    return pack_strided_streaming(pack, packed, base, block_bytes, stride_bytes, block_count);
  pack(packed, base, block_bytes, stride_bytes, block_count);
}

void unpack_strided(void* base, const void* packed, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                    std::size_t block_count) {
  const std::size_t total = block_bytes * block_count;
  if (static_cast<std::ptrdiff_t>(block_bytes) == stride_bytes || block_count <= 1) {
    if (total) copy_row(base, packed, total);
    return;
  }
  const CopySet& set = active_copies();
  set.unpack_strided[slot(choose_unpack(set, block_bytes, stride_bytes, block_count))](base, packed, block_bytes,
                                                                                       stride_bytes, block_count);
}

void pack_nest2(void* packed, const void* base, const Nest2& nest, std::size_t outer_count) {
  char* to = bytes_of(packed);
  const char* from = bytes_of(base);
  for (std::size_t o = 0; o < outer_count;
       ++o, to += nest.block_bytes * nest.inner_count, from += nest.outer_stride_bytes)
    if (nest.inner)
      pack_strided(to, from, *nest.inner, nest.inner_count);
    else
      pack_strided(to, from, nest.block_bytes, nest.inner_stride_bytes, nest.inner_count);
}

void unpack_nest2(void* base, const void* packed, const Nest2& nest, std::size_t outer_count) {
  char* to = bytes_of(base);
  const char* from = bytes_of(packed);
  for (std::size_t o = 0; o < outer_count;
       ++o, to += nest.outer_stride_bytes, from += nest.block_bytes * nest.inner_count)
    if (nest.inner)
      unpack_strided(to, from, *nest.inner, nest.inner_count);
    else
      unpack_strided(to, from, nest.block_bytes, nest.inner_stride_bytes, nest.inner_count);
}

void transpose(void* to, std::ptrdiff_t to_stride_bytes, const void* from, std::ptrdiff_t from_stride_bytes,
               std::size_t item_bytes, std::size_t rows, std::size_t columns) {
  const auto by_size = static_cast<std::size_t>(__builtin_ctzll(item_bytes));
  active_copies().transpose[by_size](to, to_stride_bytes, from, from_stride_bytes, rows, columns);
}

void pack_indexed(void* packed, const void* base, const std::ptrdiff_t* displacements_bytes, std::size_t block_bytes,
                  std::size_t block_count) {
  const CopySet& set = active_copies();
  const PackIndexed gather = set.pack_indexed[slot(CopyKernel::gather)];
  const bool gathers = gather && copy_tuning().gather_lists && (block_bytes == 4 || block_bytes == 8);
  const PackIndexed pack = gathers ? gather : set.pack_indexed[slot(CopyKernel::blocks)];
  pack(packed, base, displacements_bytes, block_bytes, block_count);
}

void unpack_indexed(void* base, const void* packed, const std::ptrdiff_t* displacements_bytes, std::size_t block_bytes,
                    std::size_t block_count) {
  const CopySet& set = active_copies();
  const UnpackIndexed scatter = set.unpack_indexed[slot(CopyKernel::gather)];
  const bool scatters = scatter && copy_tuning().scatter_lists && (block_bytes == 4 || block_bytes == 8);
  const UnpackIndexed unpack = scatters ? scatter : set.unpack_indexed[slot(CopyKernel::blocks)];
  // The kernels prefetch in long lists only: this one comes in short ones.
  if (!scatters && block_count < copy_tuning().fetch_unpacked_from_blocks)
    for (; block_count > most_unfetched_blocks; block_count -= most_unfetched_blocks) {
      unpack(base, packed, displacements_bytes, block_bytes, most_unfetched_blocks);
      packed = bytes_of(packed) + most_unfetched_blocks * block_bytes;
      displacements_bytes += most_unfetched_blocks;
    }
  unpack(base, packed, displacements_bytes, block_bytes, block_count);
}

void pack_pieces(void* packed, const void* base, const Piece* pieces, std::size_t piece_count) {
  active_copies().pack_pieces(packed, base, pieces, piece_count);
}

void unpack_pieces(void* base, const void* packed, const Piece* pieces, std::size_t piece_count) {
  active_copies().unpack_pieces(base, packed, pieces, piece_count);
}

void pack_pattern(void* packed, const void* base, const Pattern& pattern, std::size_t repetitions) {
  const CopySet& set = active_copies();
  set.pack_pattern[slot(choose_pack_pattern(set, pattern, repetitions))](packed, base, pattern, repetitions);
}

void unpack_pattern(void* base, const void* packed, const Pattern& pattern, std::size_t repetitions) {
  const CopySet& set = active_copies();
  set.unpack_pattern[slot(choose_unpack_pattern(set, pattern, repetitions))](base, packed, pattern, repetitions);
}

}  // namespace millrace::kernel
