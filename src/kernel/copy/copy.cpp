#include "kernel/copy/copy.h"

#include <cstring>

namespace millrace::kernel {
namespace {

char* bytes_of(void* buffer) { return static_cast<char*>(buffer); }
const char* bytes_of(const void* buffer) { return static_cast<const char*>(buffer); }

}  // namespace

void pack_strided(void* packed, const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                  std::size_t block_count) {
  char* to = bytes_of(packed);
  const char* from = bytes_of(base);
  for (std::size_t i = 0; i < block_count; ++i, to += block_bytes, from += stride_bytes)
    std::memcpy(to, from, block_bytes);
}

void unpack_strided(void* base, const void* packed, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                    std::size_t block_count) {
  char* to = bytes_of(base);
  const char* from = bytes_of(packed);
  for (std::size_t i = 0; i < block_count; ++i, to += stride_bytes, from += block_bytes)
    std::memcpy(to, from, block_bytes);
}

void pack_nest2(void* packed, const void* base, const Nest2& nest, std::size_t outer_count) {
  char* to = bytes_of(packed);
  const char* from = bytes_of(base);
  for (std::size_t o = 0; o < outer_count; ++o, to += nest.block_bytes * nest.inner_count,
                   from += nest.outer_stride_bytes)
    pack_strided(to, from, nest.block_bytes, nest.inner_stride_bytes, nest.inner_count);
}

void unpack_nest2(void* base, const void* packed, const Nest2& nest, std::size_t outer_count) {
  char* to = bytes_of(base);
  const char* from = bytes_of(packed);
  for (std::size_t o = 0; o < outer_count; ++o, to += nest.outer_stride_bytes,
                   from += nest.block_bytes * nest.inner_count)
    unpack_strided(to, from, nest.block_bytes, nest.inner_stride_bytes, nest.inner_count);
}

void pack_indexed(void* packed, const void* base, const std::ptrdiff_t* displacements_bytes, std::size_t block_bytes,
                  std::size_t block_count) {
  char* to = bytes_of(packed);
  for (std::size_t i = 0; i < block_count; ++i, to += block_bytes)
    std::memcpy(to, bytes_of(base) + displacements_bytes[i], block_bytes);
}

void unpack_indexed(void* base, const void* packed, const std::ptrdiff_t* displacements_bytes, std::size_t block_bytes,
                    std::size_t block_count) {
  const char* from = bytes_of(packed);
  for (std::size_t i = 0; i < block_count; ++i, from += block_bytes)
    std::memcpy(bytes_of(base) + displacements_bytes[i], from, block_bytes);
}

void pack_pieces(void* packed, const void* base, const Piece* pieces, std::size_t piece_count) {
  char* to = bytes_of(packed);
  for (std::size_t i = 0; i < piece_count; to += pieces[i++].bytes)
    std::memcpy(to, bytes_of(base) + pieces[i].displacement_bytes, pieces[i].bytes);
}

void unpack_pieces(void* base, const void* packed, const Piece* pieces, std::size_t piece_count) {
  const char* from = bytes_of(packed);
  for (std::size_t i = 0; i < piece_count; from += pieces[i++].bytes)
    std::memcpy(bytes_of(base) + pieces[i].displacement_bytes, from, pieces[i].bytes);
}

void prepare_pattern(Pattern& pattern, const Piece* pieces, std::size_t piece_count, std::ptrdiff_t extent_bytes) {
  pattern = {};
  pattern.pieces = pieces;
  pattern.piece_count = piece_count;
  pattern.extent_bytes = extent_bytes;
  for (std::size_t i = 0; i < piece_count; ++i) pattern.packed_bytes += pieces[i].bytes;
}

void pack_pattern(void* packed, const void* base, const Pattern& pattern, std::size_t repetitions) {
  char* to = bytes_of(packed);
  const char* from = bytes_of(base);
  for (std::size_t r = 0; r < repetitions; ++r, to += pattern.packed_bytes, from += pattern.extent_bytes)
    pack_pieces(to, from, pattern.pieces, pattern.piece_count);
}

void unpack_pattern(void* base, const void* packed, const Pattern& pattern, std::size_t repetitions) {
  char* to = bytes_of(base);
  const char* from = bytes_of(packed);
  for (std::size_t r = 0; r < repetitions; ++r, to += pattern.extent_bytes, from += pattern.packed_bytes)
    unpack_pieces(to, from, pattern.pieces, pattern.piece_count);
}

}  // namespace millrace::kernel
