#include "layout/plan.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace millrace::layout {
namespace {

// An iteration of at most this many blocks is run as a pattern: below it, what a kernel costs at its start is more than
// what it copies.
constexpr std::int64_t most_pattern_pieces = 32;
// Strided inner loops up to this length are written out as patterns as well.
constexpr std::int64_t most_unrolled_blocks = 8;
// Lists of a child of at most this many blocks are written out: a call of the kernel for each entry costs more than
// reading their places.
constexpr std::int64_t most_blocks_written_out = 4;

constexpr std::int64_t cache_line_bytes = 64;
// Longer blocks are moved as well by their lengths.
constexpr std::size_t most_unit_bytes = 64;
// Fewer lines than this are still in a first-level cache when the next column comes.
constexpr std::int64_t lines_that_stay = 256;
// Loads run ahead of what they wait for, so packing column by column is fine while the lines are in a second-level
// cache and its pages in the second-level TLB; except for strides that put the lines into few sets of the caches.
constexpr std::int64_t pages_that_stay = 2048, few_sets_bytes = 512;

const Node* strided_blocks(const Item& item) {
  return item.node && item.node->shape == Shape::loop && item.node->body.child.is_block() ? item.node.get() : nullptr;
}

// Rows of which columns are turned over through registers, whatever is in which cache.
constexpr std::int64_t fewest_turned_rows = 4;

bool is_far(std::int64_t stride) { return stride <= -cache_line_bytes || stride >= cache_line_bytes; }

// Columns without gaps between them: a matrix turned over.
bool is_turned(const Body& body, const Node& rows) {
  const std::int64_t item_bytes = rows.body.child.block_bytes;
  return body.stride_bytes == item_bytes && rows.count >= fewest_turned_rows && kernel::can_transpose(item_bytes);
}

// Column after column: small blocks far apart, and one iteration later their neighbours in the same cache lines. The
// innermost loop over the blocks, or null. `count` is 0 if it is known only when the loop is run.
const Node* rows_of_columns(const Body& body, std::int64_t count) {
  if (count == 1 || body.stride_bytes == 0 || is_far(body.stride_bytes)) return nullptr;
  const Item* item = &body.child;
  while (item->node && item->node->shape == Shape::loop && !item->node->body.child.is_block())
    item = &item->node->body.child;
  const Node* const rows = strided_blocks(*item);
  if (!rows) return nullptr;
  if (is_turned(body, *rows)) return rows;
  if (block_count_of(body.child) < lines_that_stay) return nullptr;
  return is_far(rows->body.stride_bytes) && rows->body.child.block_bytes < cache_line_bytes ? rows : nullptr;
}

kernel::Nest2 nest_of(const Body& body, const Node& rows) {
  return {static_cast<std::size_t>(rows.body.child.block_bytes), rows.body.stride_bytes,
          static_cast<std::size_t>(rows.count), body.stride_bytes};
}

// Writes out the blocks of an item in order.
void flatten(const Item& item, std::int64_t at, std::vector<kernel::Piece>& pieces) {
  at += item.displacement_bytes;
  if (item.is_block()) {
    pieces.push_back({at, static_cast<std::size_t>(item.block_bytes)});
    return;
  }
  const Node& node = *item.node;
  switch (node.shape) {
    case Shape::loop:
      for (std::int64_t i = 0; i < node.count; ++i) flatten(node.body.child, at + i * node.body.stride_bytes, pieces);
      break;
    case Shape::list:
      for (const std::ptrdiff_t displacement : node.displacements) flatten(node.body.child, at + displacement, pieces);
      break;
    case Shape::blocks:
      for (const kernel::Piece& piece : node.pieces) pieces.push_back({at + piece.displacement_bytes, piece.bytes});
      break;
    case Shape::sequence:
      for (const Item& inner : node.items) flatten(inner, at, pieces);
      break;
  }
}

// What the kernels prepare for the strided loops of a plan, once for each block and stride.
class PreparedLoops {
 public:
  // Null: nothing to prepare.
  std::shared_ptr<const kernel::Strided> of(std::int64_t block_bytes, std::int64_t stride_bytes) {
    if (block_bytes > most_prepared_block_bytes) return nullptr;
    const auto [found, is_new] = by_shape_.try_emplace({block_bytes, stride_bytes});
    if (is_new) {
      auto shape = std::make_shared<kernel::Strided>();
      if (kernel::prepare_strided(*shape, static_cast<std::size_t>(block_bytes), stride_bytes))
        found->second = std::move(shape);
    }
    return found->second;
  }

 private:
  // Longer ones are moved as they are by every unit: not even asked.
  static constexpr std::int64_t most_prepared_block_bytes = 64;
  std::map<std::pair<std::int64_t, std::int64_t>, std::shared_ptr<const kernel::Strided>> by_shape_;
};

// `count` is that of the loop; 0 if it is known only when the loop is run.
void choose_method(Body& body, std::int64_t count, PreparedLoops& prepared) {
  const Item& child = body.child;
  if (child.is_block()) {
    body.method = Method::strided;
    body.prepared = prepared.of(child.block_bytes, body.stride_bytes);
    return;
  }
  if (const Node* const rows = rows_of_columns(body, count)) {
    body.method = Method::tiles;
    if (rows == child.node.get()) body.nest = nest_of(body, *rows);
    body.packs_in_tiles = is_turned(body, *rows) || block_count_of(child) >= pages_that_stay ||
                          rows->body.stride_bytes % few_sets_bytes == 0;
    return;
  }
  if (const Node* const inner = strided_blocks(child);
      inner && (inner->count > most_unrolled_blocks || (count > 0 && count <= inner->count))) {
    body.method = Method::nest;
    body.prepared = prepared.of(inner->body.child.block_bytes, inner->body.stride_bytes);
    body.nest = nest_of(body, *inner);
    body.nest.inner = body.prepared.get();
    return;
  }
  if (block_count_of(child) > most_pattern_pieces) return;
  flatten(child, 0, body.pieces);
  body.pattern = std::make_unique<kernel::Pattern>();
  kernel::prepare_pattern(*body.pattern, body.pieces.data(), body.pieces.size(), body.stride_bytes);
  body.method = Method::pattern;
}

void write_out(Node& list) {
  const Item& child = list.body.child;
  if (child.is_block() || block_count_of(child) > most_blocks_written_out) return;
  list.pieces.reserve(list.displacements.size() * static_cast<std::size_t>(block_count_of(child)));
  for (const std::ptrdiff_t displacement : list.displacements) flatten(child, displacement, list.pieces);
}

// A list of equal blocks of which a few lie side by side, as in random orders, is one of blocks of two lengths. It is
// run as the list that it was: nothing has to be decided block by block. Single numbers are moved so fast that half as
// many more of them cost less than blocks of changing lengths (specfem3d_oc of bench/patterns: every ninth pair
// touches).
void cut_into_units(Node& blocks) {
  std::size_t unit = blocks.pieces[0].bytes;
  for (const kernel::Piece& piece : blocks.pieces) unit = std::min(unit, piece.bytes);
  const std::size_t units = static_cast<std::size_t>(blocks.bytes) / unit;
  const std::size_t more = blocks.pieces.size() / (unit == 4 || unit == 8 ? 2 : 8);
  if (unit > most_unit_bytes || units > blocks.pieces.size() + more) return;
  for (const kernel::Piece& piece : blocks.pieces)
    if (piece.bytes % unit != 0) return;
  blocks.displacements.reserve(units);
  for (const kernel::Piece& piece : blocks.pieces)
    for (std::size_t at = 0; at < piece.bytes; at += unit)
      blocks.displacements.push_back(piece.displacement_bytes + static_cast<std::ptrdiff_t>(at));
  blocks.unit_bytes = static_cast<std::int64_t>(unit);
}

// Every node once, though it may have many parents.
void prepare_nodes(const Item& item, std::unordered_set<const Node*>& done, PreparedLoops& prepared) {
  Node* const node = item.node.get();
  if (!node || !done.insert(node).second) return;
  if (node->shape == Shape::loop) choose_method(node->body, node->count, prepared);
  if (node->shape == Shape::list) write_out(*node);
  if (node->shape == Shape::blocks) cut_into_units(*node);
  prepare_nodes(node->body.child, done, prepared);
  for (const Item& inner : node->items) prepare_nodes(inner, done, prepared);
}

}  // namespace

void prepare(Plan& plan, Item root, std::int64_t extent_bytes) {
  plan.root = std::move(root);
  if (plan.root.is_empty()) return;
  std::unordered_set<const Node*> done;
  PreparedLoops prepared;
  prepare_nodes(plan.root, done, prepared);

  plan.first_displacement = plan.root.displacement_bytes;
  plan.elements.child = plan.root;
  plan.elements.child.displacement_bytes = 0;
  plan.elements.stride_bytes = extent_bytes;
  plan.is_contiguous_repeated = plan.root.is_block() && plan.root.block_bytes == extent_bytes;
  if (const Node* const node = plan.root.node.get(); node && node->shape == Shape::loop) {
    if (node->body.method == Method::strided) plan.single = node->body.prepared.get();
    plan.single_blocks = node->count;
    std::int64_t covered;
    if (!__builtin_mul_overflow(node->count, node->body.stride_bytes, &covered) && covered == extent_bytes) {
      // The elements continue the loop: a column of blocks, whatever the count.
      plan.rounds_per_element = node->count;
      plan.elements.child = node->body.child;
      plan.elements.stride_bytes = node->body.stride_bytes;
    }
  }
  plan.mean_block_bytes = bytes_of(plan.root) / block_count_of(plan.root);
  choose_method(plan.elements, 0, prepared);
}

const char* method_name(Method method) {
  switch (method) {
    case Method::each: return "each";
    case Method::strided: return "strided";
    case Method::nest: return "nest";
    case Method::tiles: return "tiles";
    case Method::pattern: return "pattern";
  }
  return "";
}

}  // namespace millrace::layout
