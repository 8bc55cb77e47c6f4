// Blocks moved one by one with moves of the exact size: what every instruction set can do, and what the other
// strategies use at their ends. A block size up to 32 bytes is a constant in the loop, a longer one a constant number
// of vectors, the last of which overlaps the one before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/copy/copy_set.h"
#include "kernel/copy/row.h"

namespace millrace::kernel {
namespace {

template <std::size_t Bytes>
struct VectorOf {
  using type __attribute__((vector_size(Bytes), aligned(1), may_alias)) = long long;
};

// What a register of this instruction set holds.
#if defined(__AVX512F__) && !defined(MILLRACE_KERNEL_SCALAR)
inline constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX2__) && !defined(MILLRACE_KERNEL_SCALAR)
inline constexpr std::size_t vector_bytes = 32;
#else
inline constexpr std::size_t vector_bytes = 16;
#endif

inline char* at(void* buffer) { return static_cast<char*>(buffer); }
inline const char* at(const void* buffer) { return static_cast<const char*>(buffer); }

template <std::size_t Bytes>
inline void move_vector(char* to, const char* from) {
  using Vector = typename VectorOf<Bytes>::type;
  *static_cast<Vector*>(static_cast<void*>(to)) = *static_cast<const Vector*>(static_cast<const void*>(from));
}

// block i: from + i * from_stride -> to + i * to_stride. Both strides are free, so that one loop packs and unpacks.
using Moves = void (*)(char* to, std::ptrdiff_t to_stride, const char* from, std::ptrdiff_t from_stride,
                       std::size_t block_bytes, std::size_t block_count);

template <class Move>
inline void each_block(char* to, std::ptrdiff_t to_stride, const char* from, std::ptrdiff_t from_stride,
                       std::size_t block_count, Move move) {
  for (; block_count >= 4; block_count -= 4) {
    move(to, from);
    move(to + to_stride, from + from_stride);
    move(to + 2 * to_stride, from + 2 * from_stride);
    move(to + 3 * to_stride, from + 3 * from_stride);
    to += 4 * to_stride;
    from += 4 * from_stride;
  }
  for (; block_count > 0; --block_count, to += to_stride, from += from_stride) move(to, from);
}

template <std::size_t Bytes>
void move_exactly(char* to, std::ptrdiff_t to_stride, const char* from, std::ptrdiff_t from_stride, std::size_t,
                  std::size_t block_count) {
  each_block(to, to_stride, from, from_stride, block_count,
             [](char* t, const char* f) { __builtin_memcpy(t, f, Bytes); });
}

// Blocks of more than (Count - 1) and up to Count vectors.
template <std::size_t Bytes, std::size_t Count>
inline void move_vectors(char* to, const char* from, std::size_t block_bytes) {
  if constexpr (Count > 1) {
    move_vector<Bytes>(to, from);
    move_vectors<Bytes, Count - 1>(to + Bytes, from + Bytes, block_bytes - Bytes);
  } else {
    // Relative to the end of the block: the start of this vector may lie before `to`.
    const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(block_bytes) - static_cast<std::ptrdiff_t>(Bytes);
    move_vector<Bytes>(to + last, from + last);
  }
}
template <std::size_t Bytes, std::size_t Count>
void move_some_vectors(char* to, std::ptrdiff_t to_stride, const char* from, std::ptrdiff_t from_stride,
                       std::size_t block_bytes, std::size_t block_count) {
  each_block(to, to_stride, from, from_stride, block_count,
             [=](char* t, const char* f) { move_vectors<Bytes, Count>(t, f, block_bytes); });
}
// No inline function of another header: see kernel_set.h.
inline void move_long(void* to, const void* from, std::size_t bytes) {
  if (bytes < least_string_bytes)
    __builtin_memcpy(to, from, bytes);
  else
    copy_long_row(to, from, bytes);
}
inline void move_anything(char* to, std::ptrdiff_t to_stride, const char* from, std::ptrdiff_t from_stride,
                          std::size_t block_bytes, std::size_t block_count) {
  for (; block_count > 0; --block_count, to += to_stride, from += from_stride) move_long(to, from, block_bytes);
}

inline constexpr std::size_t most_exact_bytes = 32;
inline constexpr std::size_t most_vectors = 8;

struct MovesTable {
  Moves exactly[most_exact_bytes + 1];  // by block_bytes
  Moves vectors[most_vectors + 1];      // by the number of vectors, for blocks of a vector or more

  template <std::size_t Bytes = 0>
  constexpr void fill_exactly() {
    exactly[Bytes] = move_exactly<Bytes>;
    if constexpr (Bytes < most_exact_bytes) fill_exactly<Bytes + 1>();
  }
  template <std::size_t Count = 1>
  constexpr void fill_vectors() {
    vectors[Count] = move_some_vectors<vector_bytes, Count>;
    if constexpr (Count < most_vectors) fill_vectors<Count + 1>();
  }
};
constexpr MovesTable filled_moves_table() {
  MovesTable table{};
  table.fill_exactly();
  table.fill_vectors();
  return table;
}
constexpr MovesTable moves_table = filled_moves_table();

inline Moves moves_for(std::size_t block_bytes) {
  if (block_bytes <= most_exact_bytes) return moves_table.exactly[block_bytes];
  if constexpr (vector_bytes == 64)
    if (block_bytes < 64) return move_some_vectors<32, 2>;
  const std::size_t count = (block_bytes + vector_bytes - 1) / vector_bytes;
  return count <= most_vectors ? moves_table.vectors[count] : move_anything;
}

inline void move_blocks(char* to, std::ptrdiff_t to_stride, const char* from, std::ptrdiff_t from_stride,
                        std::size_t block_bytes, std::size_t block_count) {
  moves_for(block_bytes)(to, to_stride, from, from_stride, block_bytes, block_count);
}

void pack_blocks(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                 std::size_t block_count) {
  move_blocks(at(packed), static_cast<std::ptrdiff_t>(block_bytes), at(base), stride_bytes, block_bytes, block_count);
}
void unpack_blocks(void* base, const void* packed, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                   std::size_t block_count) {
  move_blocks(at(base), stride_bytes, at(packed), static_cast<std::ptrdiff_t>(block_bytes), block_bytes, block_count);
}

// Where blocks lie an odd number of times 512 bytes apart, and more of them than the first cache can keep of the few
// sets that they fall into, stores on Zen 5 take 1.2 to 5 times as long as two stores of the same to the same place
// (docs/results/copies.md). Why is not known.
template <std::size_t Bytes>
void move_twice(char* to, std::ptrdiff_t to_stride, const char* from, std::size_t block_count) {
  each_block(to, to_stride, from, static_cast<std::ptrdiff_t>(Bytes), block_count, [](char* t, const char* f) {
    __builtin_memcpy(t, f, Bytes);
    asm volatile("" : : : "memory");  // else the compiler leaves the first out
    __builtin_memcpy(t, f, Bytes);
  });
}
void unpack_twice(void* base, const void* packed, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                  std::size_t block_count) {
  switch (block_bytes) {
    case 4: return move_twice<4>(at(base), stride_bytes, at(packed), block_count);
    case 8: return move_twice<8>(at(base), stride_bytes, at(packed), block_count);
    case 16: return move_twice<16>(at(base), stride_bytes, at(packed), block_count);
    case 32: return move_twice<32>(at(base), stride_bytes, at(packed), block_count);
    default: return unpack_blocks(base, packed, block_bytes, stride_bytes, block_count);
  }
}

}  // namespace
}  // namespace millrace::kernel
