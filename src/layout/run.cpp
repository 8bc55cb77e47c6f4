#include "layout/run.h"

#include <algorithm>

#include "kernel/copy/row.h"
#include "layout/columns.h"

namespace millrace::layout {
namespace {

using std::int64_t;

// For columns of odd sizes: rows that are copied for all columns before the next ones.
constexpr int64_t rows_per_tile = 32;

// The two directions over the same walk. Sizes in forms are positive, so they convert.
std::size_t size(int64_t bytes) { return static_cast<std::size_t>(bytes); }
void* at(Address memory) { return reinterpret_cast<void*>(memory); }
Address moved(Address memory, int64_t by) { return memory + static_cast<Address>(by); }

struct Packing {
  using Packed = char*;
  static constexpr bool is_packing = true;
  static void block(Address m, Packed p, int64_t bytes) { kernel::copy_row(p, at(m), size(bytes)); }
  static void strided(Address m, Packed p, int64_t bytes, int64_t stride, int64_t count) {
    kernel::pack_strided(p, at(m), size(bytes), stride, size(count));
  }
  static void strided(Address m, Packed p, const kernel::Strided& shape, int64_t count) {
    kernel::pack_strided(p, at(m), shape, size(count));
  }
  static void nest(Address m, Packed p, const kernel::Nest2& nest, int64_t count) {
    kernel::pack_nest2(p, at(m), nest, size(count));
  }
  static void turned(Address m, Packed p, int64_t bytes, const Columns& columns, const Rows& rows) {
    kernel::transpose(p, columns.packed_stride_bytes, at(m), rows.stride_bytes, size(bytes), size(rows.count),
                      size(columns.count));
  }
  static void pattern(Address m, Packed p, const kernel::Pattern& pattern, int64_t count) {
    kernel::pack_pattern(p, at(m), pattern, size(count));
  }
  static void indexed(Address m, Packed p, const std::ptrdiff_t* displacements, int64_t bytes, int64_t count) {
    kernel::pack_indexed(p, at(m), displacements, size(bytes), size(count));
  }
  static void pieces(Address m, Packed p, const kernel::Piece* pieces, int64_t count) {
    kernel::pack_pieces(p, at(m), pieces, size(count));
  }
};

struct Unpacking {
  using Packed = const char*;
  static constexpr bool is_packing = false;
  static void block(Address m, Packed p, int64_t bytes) { kernel::copy_row(at(m), p, size(bytes)); }
  static void strided(Address m, Packed p, int64_t bytes, int64_t stride, int64_t count) {
    kernel::unpack_strided(at(m), p, size(bytes), stride, size(count));
  }
  static void strided(Address m, Packed p, const kernel::Strided& shape, int64_t count) {
    kernel::unpack_strided(at(m), p, shape, size(count));
  }
  static void nest(Address m, Packed p, const kernel::Nest2& nest, int64_t count) {
    kernel::unpack_nest2(at(m), p, nest, size(count));
  }
  static void turned(Address m, Packed p, int64_t bytes, const Columns& columns, const Rows& rows) {
    kernel::transpose(at(m), rows.stride_bytes, p, columns.packed_stride_bytes, size(bytes), size(columns.count),
                      size(rows.count));
  }
  static void pattern(Address m, Packed p, const kernel::Pattern& pattern, int64_t count) {
    kernel::unpack_pattern(at(m), p, pattern, size(count));
  }
  static void indexed(Address m, Packed p, const std::ptrdiff_t* displacements, int64_t bytes, int64_t count) {
    kernel::unpack_indexed(at(m), p, displacements, size(bytes), size(count));
  }
  static void pieces(Address m, Packed p, const kernel::Piece* pieces, int64_t count) {
    kernel::unpack_pieces(at(m), p, pieces, size(count));
  }
};

template <class Way>
class Walk {
  using Packed = typename Way::Packed;

 public:
  // All of an item. `memory` is where its parent's displacement 0 lies.
  static void whole(const Item& item, Address memory, Packed packed) {
    memory = moved(memory, item.displacement_bytes);
    if (item.is_block()) return Way::block(memory, packed, item.block_bytes);
    const Node& node = *item.node;
    switch (node.shape) {
      case Shape::loop: return iterations(node.body, memory, node.count, packed);
      case Shape::list: return entries(node, memory, 0, node.count, packed);
      case Shape::blocks:
        if (node.unit_bytes == 0) return Way::pieces(memory, packed, node.pieces.data(), node.count);
        return Way::indexed(memory, packed, node.displacements.data(), node.unit_bytes,
                            static_cast<int64_t>(node.displacements.size()));
      case Shape::sequence:
        for (const Item& inner : node.items) {
          whole(inner, memory, packed);
          packed += bytes_of(inner);
        }
    }
  }

  static void iterations(const Body& body, Address memory, int64_t count, Packed packed) {
    if (count == 0) return;
    switch (body.method) {
      case Method::strided:
        if (body.prepared) return Way::strided(memory, packed, *body.prepared, count);
        return Way::strided(memory, packed, body.child.block_bytes, body.stride_bytes, count);
      case Method::nest: return Way::nest(memory, packed, body.nest, count);
      case Method::pattern: return Way::pattern(memory, packed, *body.pattern, count);
      case Method::tiles:
        if (count == 1) return whole(body.child, memory, packed);
        if (Way::is_packing && !body.packs_in_tiles) return in_order(body, memory, count, packed);
        return tiles({count, body.stride_bytes, bytes_of(body.child)}, body.child, memory, packed);
      case Method::each: return in_order(body, memory, count, packed);
    }
  }

  // The packed bytes [start, end) of an item.
  static void part(const Item& item, Address memory, int64_t start, int64_t end, Packed packed) {
    if (start >= end) return;
    if (start == 0 && end == bytes_of(item)) return whole(item, memory, packed);
    memory = moved(memory, item.displacement_bytes);
    if (item.is_block()) return Way::block(moved(memory, start), packed, end - start);
    const Node& node = *item.node;
    switch (node.shape) {
      case Shape::loop: return part_of_iterations(node.body, memory, start, end, packed);
      case Shape::list: return part_of_list(node, memory, start, end, packed);
      case Shape::blocks: return part_of_blocks(node, memory, start, end, packed);
      case Shape::sequence: return part_of_sequence(node, memory, start, end, packed);
    }
  }

  static void part_of_iterations(const Body& body, Address memory, int64_t start, int64_t end, Packed packed) {
    split(
        bytes_of(body.child), start, end, packed,
        [&](int64_t i, int64_t from, int64_t to, Packed p) {
          part(body.child, moved(memory, i * body.stride_bytes), from, to, p);
        },
        [&](int64_t i, int64_t count, Packed p) { iterations(body, moved(memory, i * body.stride_bytes), count, p); });
  }

 private:
  static void in_order(const Body& body, Address memory, int64_t count, Packed packed) {
    if (body.nest.inner_count > 0) return Way::nest(memory, packed, body.nest, count);
    const int64_t bytes = bytes_of(body.child);
    for (int64_t i = 0; i < count; ++i, packed += bytes, memory = moved(memory, body.stride_bytes))
      whole(body.child, memory, packed);
  }

  // `rows` is nested strided loops over blocks. The bytes arrive where they belong, in another order of time: a few
  // rows of all columns, so that a cache line is fetched once for all the columns in it.
  static void tiles(const Columns& columns, const Item& rows, Address memory, Packed packed) {
    const Node& node = *rows.node;
    const Item& child = node.body.child;
    const int64_t bytes = bytes_of(child), stride = node.body.stride_bytes;
    if (!child.is_block()) {
      for (int64_t i = 0; i < node.count; ++i, memory = moved(memory, stride), packed += bytes)
        tiles(columns, child, memory, packed);
      return;
    }
    if (columns.stride_bytes == bytes && kernel::can_transpose(bytes))
      return Way::turned(memory, packed, bytes, columns, {node.count, stride});
    switch (bytes) {
      case 1: return exact_columns<1>(columns, {node.count, stride}, memory, packed);
      case 2: return exact_columns<2>(columns, {node.count, stride}, memory, packed);
      case 4: return exact_columns<4>(columns, {node.count, stride}, memory, packed);
      case 8: return exact_columns<8>(columns, {node.count, stride}, memory, packed);
      case 16: return exact_columns<16>(columns, {node.count, stride}, memory, packed);
      default: break;
    }
    for (int64_t i = 0; i < node.count; i += rows_per_tile) {
      const int64_t count = std::min(rows_per_tile, node.count - i);
      Address from = moved(memory, i * stride);
      Packed to = packed + i * bytes;
      for (int64_t c = 0; c < columns.count; ++c, to += columns.packed_stride_bytes) {
        Way::strided(from, to, bytes, stride, count);
        from = moved(from, columns.stride_bytes);
      }
    }
  }

  template <int64_t Bytes>
  static void exact_columns(const Columns& columns, const Rows& rows, Address memory, Packed packed) {
    copy_columns<Bytes>(memory, packed, columns, rows,
                        [](Address block, Packed place) { Way::block(block, place, Bytes); });
  }

  // Entries [first, first + count) of a list.
  static void entries(const Node& node, Address memory, int64_t first, int64_t count, Packed packed) {
    const std::ptrdiff_t* const displacements = node.displacements.data() + first;
    const Item& child = node.body.child;
    if (child.is_block()) return Way::indexed(memory, packed, displacements, child.block_bytes, count);
    if (!node.pieces.empty()) {  // written out
      const int64_t blocks = child.node->block_count;
      return Way::pieces(memory, packed, node.pieces.data() + first * blocks, count * blocks);
    }
    const int64_t bytes = bytes_of(child);
    for (int64_t i = 0; i < count; ++i, packed += bytes) whole(child, moved(memory, displacements[i]), packed);
  }

  // Cuts [start, end) of a row of equal units into a partial one, whole ones, and a partial one.
  template <class Partial, class Whole>
  static void split(int64_t unit, int64_t start, int64_t end, Packed packed, const Partial& partial,
                    const Whole& whole_units) {
    int64_t i = start / unit;
    if (const int64_t from = start % unit; from > 0) {
      const int64_t to = std::min(unit, from + (end - start));
      partial(i++, from, to, packed);
      packed += to - from;
      start += to - from;
    }
    const int64_t count = (end - start) / unit, rest = (end - start) % unit;
    if (count > 0) whole_units(i, count, packed);
    if (rest > 0) partial(i + count, 0, rest, packed + count * unit);
  }

  static void part_of_list(const Node& node, Address memory, int64_t start, int64_t end, Packed packed) {
    split(
        bytes_of(node.body.child), start, end, packed,
        [&](int64_t i, int64_t from, int64_t to, Packed p) {
          part(node.body.child, moved(memory, node.displacements[size(i)]), from, to, p);
        },
        [&](int64_t i, int64_t count, Packed p) { entries(node, memory, i, count, p); });
  }

  // The entry of blocks or of a sequence that holds packed byte `offset`.
  static std::size_t entry_of(const Node& node, int64_t offset) {
    const auto after = std::upper_bound(node.starts.begin(), node.starts.end(), offset);
    return static_cast<std::size_t>(after - node.starts.begin()) - 1;
  }

  static void part_of_blocks(const Node& node, Address memory, int64_t start, int64_t end, Packed packed) {
    const auto cut = [&](std::size_t i, int64_t from, int64_t to) {
      const Address block = moved(memory, node.pieces[i].displacement_bytes);
      Way::block(moved(block, from - node.starts[i]), packed, to - from);
      packed += to - from;
    };
    std::size_t first = entry_of(node, start);
    if (start > node.starts[first] || end < node.starts[first + 1]) {
      cut(first, start, std::min(end, node.starts[first + 1]));
      if (end <= node.starts[++first]) return;
    }
    const std::size_t last = end == node.bytes ? size(node.count) : entry_of(node, end);
    Way::pieces(memory, packed, node.pieces.data() + first, static_cast<int64_t>(last - first));
    packed += node.starts[last] - node.starts[first];
    if (end > node.starts[last]) cut(last, node.starts[last], end);
  }

  static void part_of_sequence(const Node& node, Address memory, int64_t start, int64_t end, Packed packed) {
    for (std::size_t i = entry_of(node, start); start < end; ++i) {
      const int64_t to = std::min(end, node.starts[i + 1]);
      part(node.items[i], memory, start - node.starts[i], to - node.starts[i], packed);
      packed += to - start;
      start = to;
    }
  }
};

template <class Way>
void elements(const Plan& plan, Address base, int64_t count, typename Way::Packed packed) {
  const Address first = moved(base, plan.first_displacement);
  if (count == 1 && plan.single) return Way::strided(first, packed, *plan.single, plan.single_blocks);
  if (plan.root.is_empty() || count == 0) return;
  if (count == 1) return Walk<Way>::whole(plan.root, base, packed);
  if (plan.is_contiguous_repeated) return Way::block(first, packed, plan.root.block_bytes * count);
  Walk<Way>::iterations(plan.elements, first, plan.rounds_per_element * count, packed);
}

template <class Way>
void elements_part(const Plan& plan, Address base, int64_t count, int64_t start, int64_t end,
                   typename Way::Packed packed) {
  if (start >= end) return;
  if (count == 1) return Walk<Way>::part(plan.root, base, start, end, packed);
  const Address first = moved(base, plan.first_displacement);
  if (plan.is_contiguous_repeated) return Way::block(moved(first, start), packed, end - start);
  Walk<Way>::part_of_iterations(plan.elements, first, start, end, packed);
}

}  // namespace

void pack_elements(const Plan& plan, Address base, int64_t count, char* packed) {
  elements<Packing>(plan, base, count, packed);
}
void unpack_elements(const Plan& plan, Address base, int64_t count, const char* packed) {
  elements<Unpacking>(plan, base, count, packed);
}
void pack_part(const Plan& plan, Address base, int64_t count, int64_t start, int64_t end, char* packed) {
  elements_part<Packing>(plan, base, count, start, end, packed);
}
void unpack_part(const Plan& plan, Address base, int64_t count, int64_t start, int64_t end, const char* packed) {
  elements_part<Unpacking>(plan, base, count, start, end, packed);
}

}  // namespace millrace::layout
