// The canonical form: which bytes, in which order. No datatypes, no extents, no lower bounds: those are folded into
// displacements and strides. Four kinds of nodes over blocks of contiguous bytes:
//
//   loop      count times the child, stride bytes apart
//   list      the child at each of several displacements
//   blocks    blocks of different lengths, each at a displacement
//   sequence  different children, each at a displacement
//
// A node's displacement 0 is its first packed byte, so the same shape at two places is the same form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernel/copy/strided.h"

namespace millrace::layout {

struct Node;
using NodePtr = std::shared_ptr<Node>;

// A block or a node at a displacement; neither: no bytes at all.
struct Item {
  std::int64_t displacement_bytes = 0;
  std::int64_t block_bytes = 0;
  NodePtr node;

  bool is_block() const { return block_bytes > 0; }
  bool is_empty() const { return block_bytes == 0 && !node; }
};

enum class Shape : std::uint8_t { loop, list, blocks, sequence };

// How the iterations of a loop are run: chosen in plan.cpp once the form is final.
enum class Method : std::uint8_t {
  each,     // one after the other
  strided,  // kernel::pack_strided
  nest,     // kernel::pack_nest2
  tiles,    // columns side by side: a few rows of all of them at a time
  pattern,  // kernel::pack_pattern
};

// What a loop repeats. Also used for the elements of a call, where the count is known at run time only.
struct Body {
  Item child;  // at displacement 0 in loops
  std::int64_t stride_bytes = 0;
  Method method = Method::each;
  kernel::Nest2 nest{};  // nest; tiles of one level of rows; else its inner_count is 0
  // strided, or the inner loop of nest: if it is worth preparing. Loops of the same blocks share it.
  std::shared_ptr<const kernel::Strided> prepared;
  bool packs_in_tiles = false;  // tiles: packing too, not only unpacking
  std::vector<kernel::Piece> pieces;
  std::unique_ptr<kernel::Pattern> pattern;
};

struct Node {
  Shape shape = Shape::loop;
  std::int64_t bytes = 0;          // packed
  std::int64_t low = 0, high = 0;  // bytes touched: [low, high) around the first packed byte
  std::int64_t block_count = 0;    // blocks in a walk through the whole node; saturates
  std::uint64_t hash = 0;
  std::int64_t count = 0;  // loop: iterations; others: length of the list
  Body body;               // loop; list: child only
  // list; also the units that blocks of nearly equal lengths are cut into, of `unit_bytes` each (plan.cpp).
  std::vector<std::ptrdiff_t> displacements;
  std::int64_t unit_bytes = 0;
  std::vector<kernel::Piece> pieces;  // blocks; a list of something small, written out by plan.cpp
  std::vector<Item> items;            // sequence
  std::vector<std::int64_t> starts;   // blocks, sequence: packed bytes before entry i; count + 1 entries
};

std::int64_t bytes_of(const Item& item);
std::int64_t low_of(const Item& item);   // lowest byte touched; 0 if none
std::int64_t high_of(const Item& item);  // one past the highest; 0 if none
std::int64_t block_count_of(const Item& item);
bool same_form(const Item& a, const Item& b);  // displacements aside

Item empty_item();
Item make_block(std::int64_t displacement_bytes, std::int64_t bytes);
Item moved(Item item, std::int64_t by_bytes);

// The smallest form of `count` times `child`, `stride_bytes` apart. count >= 0.
Item make_loop(std::int64_t count, std::int64_t stride_bytes, const Item& child);

// The smallest form of these, one after the other in packed order: neighbours merged, runs and repeating patterns
// found.
Item join(std::vector<Item> items);

// For join(): what it consists of.
std::vector<Item> merge_neighbours(std::vector<Item> items);
std::vector<Item> find_repeats(std::vector<Item> items);
Item make_list(std::vector<Item> items);  // no further search

}  // namespace millrace::layout
