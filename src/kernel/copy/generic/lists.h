// Blocks at listed displacements. Lists of long jumps are prefetched: the processor sees strides, not lists.
#pragma once

#include "kernel/copy/generic/moves.h"

namespace millrace::kernel {
namespace {

inline constexpr std::size_t prefetch_blocks_ahead = 32;
// Shorter lists are of what the caches hold, or are over before prefetching pays.
inline constexpr std::size_t prefetch_from_blocks = 4096;

template <class Move>
inline void each_listed(const std::ptrdiff_t* displacements, std::size_t block_count, const char* base, Move move) {
  std::size_t i = 0;
  const std::size_t prefetched = block_count < prefetch_from_blocks ? 0 : block_count - prefetch_blocks_ahead;
  for (; i + 4 <= prefetched; i += 4) {
    for (std::size_t ahead = 0; ahead < 4; ++ahead)
      __builtin_prefetch(base + displacements[i + prefetch_blocks_ahead + ahead]);
    move(displacements[i], i);
    move(displacements[i + 1], i + 1);
    move(displacements[i + 2], i + 2);
    move(displacements[i + 3], i + 3);
  }
  for (; i + 4 <= block_count; i += 4) {
    move(displacements[i], i);
    move(displacements[i + 1], i + 1);
    move(displacements[i + 2], i + 2);
    move(displacements[i + 3], i + 3);
  }
  for (; i < block_count; ++i) move(displacements[i], i);
}

template <std::size_t Bytes>
struct ListedExactly {
  static void pack(void* packed, const void* base, const std::ptrdiff_t* displacements, std::size_t,
                   std::size_t block_count) {
    each_listed(displacements, block_count, at(base), [=](std::ptrdiff_t displacement, std::size_t i) {
      __builtin_memcpy(at(packed) + i * Bytes, at(base) + displacement, Bytes);
    });
  }
  static void unpack(void* base, const void* packed, const std::ptrdiff_t* displacements, std::size_t,
                     std::size_t block_count) {
    each_listed(displacements, block_count, at(base), [=](std::ptrdiff_t displacement, std::size_t i) {
      __builtin_memcpy(at(base) + displacement, at(packed) + i * Bytes, Bytes);
    });
  }
};

template <std::size_t Bytes, std::size_t Count>
struct ListedVectors {
  static void pack(void* packed, const void* base, const std::ptrdiff_t* displacements, std::size_t block_bytes,
                   std::size_t block_count) {
    each_listed(displacements, block_count, at(base), [=](std::ptrdiff_t displacement, std::size_t i) {
      move_vectors<Bytes, Count>(at(packed) + i * block_bytes, at(base) + displacement, block_bytes);
    });
  }
  static void unpack(void* base, const void* packed, const std::ptrdiff_t* displacements, std::size_t block_bytes,
                     std::size_t block_count) {
    each_listed(displacements, block_count, at(base), [=](std::ptrdiff_t displacement, std::size_t i) {
      move_vectors<Bytes, Count>(at(base) + displacement, at(packed) + i * block_bytes, block_bytes);
    });
  }
};

struct ListedTable {
  PackIndexed pack_exactly[most_exact_bytes + 1];
  UnpackIndexed unpack_exactly[most_exact_bytes + 1];
  PackIndexed pack_vectors[most_vectors + 1];
  UnpackIndexed unpack_vectors[most_vectors + 1];

  template <std::size_t Bytes = 0>
  constexpr void fill_exactly() {
    pack_exactly[Bytes] = ListedExactly<Bytes>::pack;
    unpack_exactly[Bytes] = ListedExactly<Bytes>::unpack;
    if constexpr (Bytes < most_exact_bytes) fill_exactly<Bytes + 1>();
  }
  template <std::size_t Count = 1>
  constexpr void fill_vectors() {
    pack_vectors[Count] = ListedVectors<vector_bytes, Count>::pack;
    unpack_vectors[Count] = ListedVectors<vector_bytes, Count>::unpack;
    if constexpr (Count < most_vectors) fill_vectors<Count + 1>();
  }
};
constexpr ListedTable filled_listed_table() {
  ListedTable table{};
  table.fill_exactly();
  table.fill_vectors();
  return table;
}
constexpr ListedTable listed_table = filled_listed_table();

void pack_listed(void* packed, const void* base, const std::ptrdiff_t* displacements, std::size_t block_bytes,
                 std::size_t block_count) {
  const std::size_t count = (block_bytes + vector_bytes - 1) / vector_bytes;
  if (block_bytes <= most_exact_bytes)
    return listed_table.pack_exactly[block_bytes](packed, base, displacements, block_bytes, block_count);
  if constexpr (vector_bytes == 64)
    if (block_bytes < 64) return ListedVectors<32, 2>::pack(packed, base, displacements, block_bytes, block_count);
  if (count <= most_vectors)
    return listed_table.pack_vectors[count](packed, base, displacements, block_bytes, block_count);
  for (std::size_t i = 0; i < block_count; ++i)
    move_long(at(packed) + i * block_bytes, at(base) + displacements[i], block_bytes);
}
void unpack_listed(void* base, const void* packed, const std::ptrdiff_t* displacements, std::size_t block_bytes,
                   std::size_t block_count) {
  const std::size_t count = (block_bytes + vector_bytes - 1) / vector_bytes;
  if (block_bytes <= most_exact_bytes)
    return listed_table.unpack_exactly[block_bytes](base, packed, displacements, block_bytes, block_count);
  if constexpr (vector_bytes == 64)
    if (block_bytes < 64) return ListedVectors<32, 2>::unpack(base, packed, displacements, block_bytes, block_count);
  if (count <= most_vectors)
    return listed_table.unpack_vectors[count](base, packed, displacements, block_bytes, block_count);
  for (std::size_t i = 0; i < block_count; ++i)
    move_long(at(base) + displacements[i], at(packed) + i * block_bytes, block_bytes);
}

}  // namespace
}  // namespace millrace::kernel
