// Sets of columns: small blocks far apart in rows, whose neighbours in the row belong to other columns. Column after
// column, every cache line of the rows would be fetched once for each block in it. Here a group of neighbouring columns
// goes at once: each row's line is touched once, the packed bytes are a few streams.
//
//   rows      |a0 b0 c0 d0|a1 b1 c1 d1|...        packed   |a0 a1 a2 ...|b0 b1 b2 ...|c0 c1 ...|d0 ...
#pragma once

#include <cstdint>

namespace millrace::layout {

struct Columns {
  std::int64_t count, stride_bytes, packed_stride_bytes;
};
struct Rows {
  std::int64_t count, stride_bytes;
};

// A row's cache line holds about so many blocks; as many packed lines stay in one set of a first-level cache.
template <std::int64_t BlockBytes>
constexpr std::int64_t columns_at_once = BlockBytes < 8 ? 16 : 8;

// Copy(memory, packed) copies one block of BlockBytes.
template <std::int64_t BlockBytes, class Packed, class Copy>
void copy_columns(std::uintptr_t memory, Packed packed, const Columns& columns, const Rows& rows, const Copy& copy) {
  constexpr std::int64_t group = columns_at_once<BlockBytes>;
  const auto at = [](std::uintptr_t base, std::int64_t by) { return base + static_cast<std::uintptr_t>(by); };
  std::int64_t c = 0;
  for (; c + group <= columns.count; c += group) {
    std::uintptr_t row = at(memory, c * columns.stride_bytes);
    Packed to = packed + c * columns.packed_stride_bytes;
    for (std::int64_t r = 0; r < rows.count; ++r, row = at(row, rows.stride_bytes), to += BlockBytes)
      for (std::int64_t k = 0; k < group; ++k)
        copy(at(row, k * columns.stride_bytes), to + k * columns.packed_stride_bytes);
  }
  const std::int64_t rest = columns.count - c;
  std::uintptr_t row = at(memory, c * columns.stride_bytes);
  Packed to = packed + c * columns.packed_stride_bytes;
  for (std::int64_t r = 0; rest > 0 && r < rows.count; ++r, row = at(row, rows.stride_bytes), to += BlockBytes)
    for (std::int64_t k = 0; k < rest; ++k)
      copy(at(row, k * columns.stride_bytes), to + k * columns.packed_stride_bytes);
}

}  // namespace millrace::layout
