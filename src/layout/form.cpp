#include "layout/form.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "layout/checked.h"

namespace millrace::layout {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = spread(hash ^ value);
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(const Item& item) {
  return item.node ? item.node->hash : mix(1, static_cast<std::uint64_t>(item.block_bytes));
}

bool same_node(const Node& a, const Node& b) {
  if (a.hash != b.hash || a.shape != b.shape || a.bytes != b.bytes || a.count != b.count) return false;
  const auto same_piece = [](const kernel::Piece& p, const kernel::Piece& q) {
    return p.displacement_bytes == q.displacement_bytes && p.bytes == q.bytes;
  };
  const auto same_item = [](const Item& p, const Item& q) {
    return p.displacement_bytes == q.displacement_bytes && same_form(p, q);
  };
  return a.body.stride_bytes == b.body.stride_bytes && a.displacements == b.displacements &&
         std::equal(a.pieces.begin(), a.pieces.end(), b.pieces.begin(), b.pieces.end(), same_piece) &&
         same_form(a.body.child, b.body.child) &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same_item);
}

std::int64_t saturated_times(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

std::int64_t saturated_plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

// The child of a loop or list, its first packed byte moved to displacement 0.
Item at_origin(Item item) {
  item.displacement_bytes = 0;
  return item;
}

Item place(NodePtr node, std::int64_t displacement_bytes) { return {displacement_bytes, 0, std::move(node)}; }

void cover(Node& node, std::int64_t low, std::int64_t high) {
  node.low = std::min(node.low, low);
  node.high = std::max(node.high, high);
}

Item new_loop(std::int64_t count, std::int64_t stride_bytes, const Item& child) {
  auto node = std::make_shared<Node>();
  node->shape = Shape::loop;
  node->count = count;
  node->body.child = at_origin(child);
  node->body.stride_bytes = stride_bytes;
  node->bytes = times(count, bytes_of(child));
  node->block_count = saturated_times(count, block_count_of(child));
  const std::int64_t last = times(count - 1, stride_bytes);
  const Item& body = node->body.child;
  cover(*node, low_of(body), high_of(body));
  cover(*node, plus(low_of(body), last), plus(high_of(body), last));
  node->hash =
      mix(mix(mix(2, static_cast<std::uint64_t>(count)), static_cast<std::uint64_t>(stride_bytes)), hash_of(child));
  return place(std::move(node), child.displacement_bytes);
}

}  // namespace

std::int64_t bytes_of(const Item& item) { return item.node ? item.node->bytes : item.block_bytes; }
std::int64_t low_of(const Item& item) {
  return item.node ? plus(item.displacement_bytes, item.node->low) : item.is_block() ? item.displacement_bytes : 0;
}
std::int64_t high_of(const Item& item) {
  return item.node         ? plus(item.displacement_bytes, item.node->high)
         : item.is_block() ? plus(item.displacement_bytes, item.block_bytes)
                           : 0;
}
std::int64_t block_count_of(const Item& item) { return item.node ? item.node->block_count : item.is_block(); }

bool same_form(const Item& a, const Item& b) {
  if (a.block_bytes != b.block_bytes || !a.node != !b.node) return false;
  return a.node == b.node || same_node(*a.node, *b.node);
}

Item empty_item() { return {}; }
Item make_block(std::int64_t displacement_bytes, std::int64_t bytes) {
  return bytes > 0 ? Item{displacement_bytes, bytes, nullptr} : Item{};
}
Item moved(Item item, std::int64_t by_bytes) {
  if (!item.is_empty()) item.displacement_bytes = plus(item.displacement_bytes, by_bytes);
  return item;
}

Item make_loop(std::int64_t count, std::int64_t stride_bytes, const Item& child) {
  if (count == 0 || child.is_empty()) return {};
  if (count == 1) return child;
  if (child.is_block()) {
    if (child.block_bytes == stride_bytes) return make_block(child.displacement_bytes, times(count, stride_bytes));
  } else if (child.node->shape == Shape::loop) {
    // The last iteration of the inner loop is followed, at the inner stride, by the first one of the next outer one.
    const Node& inner = *child.node;
    if (stride_bytes == times(inner.count, inner.body.stride_bytes))
      return new_loop(times(count, inner.count), inner.body.stride_bytes,
                      moved(inner.body.child, child.displacement_bytes));
  }
  return new_loop(count, stride_bytes, child);
}

Item make_list(std::vector<Item> items) {
  if (items.empty()) return {};
  if (items.size() == 1) return std::move(items[0]);
  const std::int64_t origin = items[0].displacement_bytes;
  bool all_same = true, all_blocks = true;
  for (const Item& item : items) {
    all_same = all_same && same_form(item, items[0]);
    all_blocks = all_blocks && item.is_block();
  }
  auto node = std::make_shared<Node>();
  node->shape = all_same ? Shape::list : all_blocks ? Shape::blocks : Shape::sequence;
  node->count = static_cast<std::int64_t>(items.size());
  node->hash = 3 + static_cast<std::uint64_t>(node->shape);
  if (all_same) {
    node->body.child = at_origin(items[0]);
    node->displacements.reserve(items.size());
  } else {
    node->starts.reserve(items.size() + 1);
    node->starts.push_back(0);
    if (all_blocks) node->pieces.reserve(items.size());
  }
  for (Item& item : items) {
    item.displacement_bytes = minus(item.displacement_bytes, origin);
    cover(*node, low_of(item), high_of(item));
    node->bytes = plus(node->bytes, bytes_of(item));
    node->block_count = saturated_plus(node->block_count, block_count_of(item));
    node->hash = mix(mix(node->hash, static_cast<std::uint64_t>(item.displacement_bytes)), hash_of(item));
    if (all_same) {
      node->displacements.push_back(item.displacement_bytes);
      continue;
    }
    node->starts.push_back(node->bytes);
    if (all_blocks) node->pieces.push_back({item.displacement_bytes, static_cast<std::size_t>(item.block_bytes)});
  }
  if (node->shape == Shape::sequence) node->items = std::move(items);
  return place(std::move(node), origin);
}

}  // namespace millrace::layout
