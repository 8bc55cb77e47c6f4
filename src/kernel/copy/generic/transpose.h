// Matrices turned over: what columns side by side are when they are packed, and unpacked again. Squares of as many
// items as a vector holds go through registers, so that every cache line of both sides is touched once, in whole where
// rows are aligned.
//
//   from  a0 a1 a2 a3    to  a0 b0 c0 d0    item (row, column) lies at from + row * from_stride + column * item,
//         b0 b1 b2 b3        a1 b1 c1 d1    and goes to to + column * to_stride + row * item.
//         c0 c1 c2 c3        a2 b2 c2 d2
//         d0 d1 d2 d3        a3 b3 c3 d3
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/copy/generic/moves.h"

namespace millrace::kernel {
namespace {

template <std::size_t Bytes>
struct ItemOf;
template <>
struct ItemOf<1> {
  using type = std::uint8_t;
};
template <>
struct ItemOf<2> {
  using type = std::uint16_t;
};
template <>
struct ItemOf<4> {
  using type = std::uint32_t;
};
template <>
struct ItemOf<8> {
  using type = std::uint64_t;
};

template <std::size_t... places>
struct Places {};
template <std::size_t Count, std::size_t... places>
struct PlacesUpTo : PlacesUpTo<Count - 1, Count - 1, places...> {};
template <std::size_t... places>
struct PlacesUpTo<0, places...> {
  using type = Places<places...>;
};

// A square of Side x Side items in as many vectors. Items of 16 bytes are pairs of 8.
template <std::size_t ItemBytes, std::size_t Side>
struct Square {
  static constexpr std::size_t lane_bytes = ItemBytes > 8 ? 8 : ItemBytes;
  static constexpr std::size_t lanes_per_item = ItemBytes / lane_bytes;
  static constexpr std::size_t lanes = Side * lanes_per_item;
  static constexpr std::size_t row_bytes = Side * ItemBytes;
  using Lane = typename ItemOf<lane_bytes>::type;
  using Vector __attribute__((vector_size(row_bytes))) = Lane;
  using Unaligned __attribute__((vector_size(row_bytes), aligned(1), may_alias)) = Lane;
  using Every = typename PlacesUpTo<lanes>::type;

  Vector rows[Side];

  static constexpr std::size_t item(std::size_t lane) { return lane / lanes_per_item; }

  // One step of the exchange of 2 x 2 squares of `Distance` x `Distance` items.
  template <std::size_t Distance, std::size_t... l>
  static void exchange(Vector& a, Vector& b, Places<l...>) {
    constexpr std::size_t shift = Distance * lanes_per_item;
    const Vector low = __builtin_shufflevector(a, b, ((item(l) & Distance) ? lanes + l - shift : l)...);
    const Vector high = __builtin_shufflevector(a, b, ((item(l) & Distance) ? lanes + l : l + shift)...);
    a = low;
    b = high;
  }
  template <std::size_t Distance>
  void exchange_all() {
    for (std::size_t i = 0; i < Side; ++i)
      if ((i & Distance) == 0) exchange<Distance>(rows[i], rows[i + Distance], Every{});
    if constexpr (2 * Distance < Side) exchange_all<2 * Distance>();
  }

  // Where an instruction interleaves two vectors, that is the shortest way: log2(Side) rounds of it.
  template <std::size_t... l>
  static void interleave(const Vector& a, const Vector& b, Vector& low, Vector& high, Places<l...>) {
    low = __builtin_shufflevector(a, b,
                                  ((item(l) & 1 ? lanes : 0) + item(l) / 2 * lanes_per_item + l % lanes_per_item)...);
    high = __builtin_shufflevector(
        a, b, ((item(l) & 1 ? lanes : 0) + (Side / 2 + item(l) / 2) * lanes_per_item + l % lanes_per_item)...);
  }
  template <std::size_t Rounds>
  void interleave_all() {
    Vector next[Side];
    for (std::size_t i = 0; i < Side / 2; ++i)
      interleave(rows[i], rows[i + Side / 2], next[2 * i], next[2 * i + 1], Every{});
    for (std::size_t i = 0; i < Side; ++i) rows[i] = next[i];
    if constexpr (Rounds > 2) interleave_all<Rounds / 2>();
  }

  static void turn(char* to, std::ptrdiff_t to_stride, const char* from, std::ptrdiff_t from_stride) {
    Square square;
#pragma GCC unroll 16
    for (std::size_t i = 0; i < Side; ++i, from += from_stride)
      square.rows[i] = *static_cast<const Unaligned*>(static_cast<const void*>(from));
    if constexpr (row_bytes == 16)
      square.template interleave_all<Side>();
    else
      square.template exchange_all<1>();
#pragma GCC unroll 16
    for (std::size_t i = 0; i < Side; ++i, to += to_stride)
      *static_cast<Unaligned*>(static_cast<void*>(to)) = square.rows[i];
  }
};

// Item by item: less than two rows or columns of the smallest square.
template <std::size_t ItemBytes>
void transpose_items(char* to, std::ptrdiff_t to_stride, const char* from, std::ptrdiff_t from_stride, std::size_t rows,
                     std::size_t columns) {
  constexpr auto item = static_cast<std::ptrdiff_t>(ItemBytes);
  for (std::size_t r = 0; r < rows; ++r)
    move_exactly<ItemBytes>(to + static_cast<std::ptrdiff_t>(r) * item, to_stride,
                            from + static_cast<std::ptrdiff_t>(r) * from_stride, item, ItemBytes, columns);
}

// Squares along the rows of `from`, the last of which overlaps the one before it: the items in both are written twice,
// with the same value. At least Side rows and columns.
template <std::size_t ItemBytes, std::size_t Side>
void transpose_squares(char* to, std::ptrdiff_t to_stride, const char* from, std::ptrdiff_t from_stride,
                       std::size_t rows, std::size_t columns) {
  constexpr auto item = static_cast<std::ptrdiff_t>(ItemBytes);
  for (std::size_t c = 0;; c = c + Side < columns - Side ? c + Side : columns - Side) {
    const auto column = static_cast<std::ptrdiff_t>(c);
    for (std::size_t r = 0;; r = r + Side < rows - Side ? r + Side : rows - Side) {
      const auto row = static_cast<std::ptrdiff_t>(r);
      Square<ItemBytes, Side>::turn(to + column * to_stride + row * item, to_stride,
                                    from + row * from_stride + column * item, from_stride);
      if (r == rows - Side) break;
    }
    if (c == columns - Side) break;
  }
}

template <std::size_t ItemBytes, std::size_t Side>
void transpose_tile(char* to, std::ptrdiff_t to_stride, const char* from, std::ptrdiff_t from_stride, std::size_t rows,
                    std::size_t columns) {
  if (rows >= Side && columns >= Side)
    transpose_squares<ItemBytes, Side>(to, to_stride, from, from_stride, rows, columns);
  else if constexpr (Side > 2 && Side * ItemBytes > 16)
    transpose_tile<ItemBytes, Side / 2>(to, to_stride, from, from_stride, rows, columns);
  else
    transpose_items<ItemBytes>(to, to_stride, from, from_stride, rows, columns);
}

// Bytes of a tile's rows and columns: so many lines of each stay in a first-level cache, and the pages of both sides in
// its TLB.
inline constexpr std::size_t tile_line_bytes = 512;

template <std::size_t ItemBytes>
void transpose(void* to, std::ptrdiff_t to_stride, const void* from, std::ptrdiff_t from_stride, std::size_t rows,
               std::size_t columns) {
  constexpr std::size_t widest = ItemBytes < 4 ? 16 : vector_bytes;
  constexpr std::size_t side = widest / ItemBytes < 2 ? 2 : widest / ItemBytes;
  constexpr std::size_t tile = tile_line_bytes / ItemBytes < 64 ? tile_line_bytes / ItemBytes : 64;
  constexpr auto item = static_cast<std::ptrdiff_t>(ItemBytes);
  // A last tile that is smaller than a square goes with the one before.
  const auto end_of = [](std::size_t start, std::size_t all) { return all - start < tile + side ? all : start + tile; };
  for (std::size_t r = 0; r < rows; r = end_of(r, rows)) {
    for (std::size_t c = 0; c < columns; c = end_of(c, columns)) {
      const auto row = static_cast<std::ptrdiff_t>(r), column = static_cast<std::ptrdiff_t>(c);
      transpose_tile<ItemBytes, side>(at(to) + column * to_stride + row * item, to_stride,
                                      at(from) + row * from_stride + column * item, from_stride, end_of(r, rows) - r,
                                      end_of(c, columns) - c);
    }
  }
}

}  // namespace
}  // namespace millrace::kernel
