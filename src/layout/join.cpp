// Finds the smallest form of a list of items: what touches is merged, what repeats becomes a loop.
#include <algorithm>
#include <utility>

#include "layout/checked.h"
#include "layout/form.h"

namespace millrace::layout {
namespace {

// A list may grow by this much when lists inside it are dissolved: sharing one child is often smaller.
constexpr std::size_t free_growth = 1024;
// A loop inside an irregular list must replace at least this many entries to be worth its own start.
constexpr std::size_t least_entries_replaced = 8;
constexpr std::size_t longest_local_period = 4, least_local_repeats = 4;

const Node* loop_of(const Item& item) {
  return item.node && item.node->shape == Shape::loop ? item.node.get() : nullptr;
}

std::size_t entries_of(const Item& item) {
  if (!item.node || item.node->shape == Shape::loop) return 1;
  return static_cast<std::size_t>(item.node->count);
}

void append_dissolved(const Item& item, std::vector<Item>& result) {
  const std::int64_t at = item.displacement_bytes;
  const Node* const node = item.node.get();
  if (!node || node->shape == Shape::loop) {
    result.push_back(item);
  } else if (node->shape == Shape::list) {
    for (const std::int64_t displacement : node->displacements)
      result.push_back(moved(node->body.child, plus(at, displacement)));
  } else if (node->shape == Shape::blocks) {
    for (const kernel::Piece& piece : node->pieces)
      result.push_back(make_block(plus(at, piece.displacement_bytes), static_cast<std::int64_t>(piece.bytes)));
  } else {
    for (const Item& inner : node->items) result.push_back(moved(inner, at));
  }
}

// Lists inside the list become part of it, unless they are all the same one.
std::vector<Item> dissolve(std::vector<Item> items) {
  bool all_same = true;
  std::size_t entries = 0;
  for (const Item& item : items) {
    all_same = all_same && same_form(item, items[0]);
    entries += entries_of(item);
  }
  if (entries == items.size() || (all_same && items.size() > 1) || entries > 2 * items.size() + free_growth)
    return items;
  std::vector<Item> result;
  result.reserve(entries);
  for (const Item& item : items) append_dissolved(item, result);
  return result;
}

// Whether b continues a: the two are one block or one loop. Then a becomes both.
bool extend(Item& a, const Item& b) {
  if (a.is_block() && b.is_block()) {
    if (b.displacement_bytes != plus(a.displacement_bytes, a.block_bytes)) return false;
    a.block_bytes = plus(a.block_bytes, b.block_bytes);
    return true;
  }
  const Node *const left = loop_of(a), *const right = loop_of(b);
  const std::int64_t distance = minus(b.displacement_bytes, a.displacement_bytes);
  if (left && distance == times(left->count, left->body.stride_bytes)) {
    const Item child = moved(left->body.child, a.displacement_bytes);
    const std::int64_t stride = left->body.stride_bytes;
    if (same_form(left->body.child, b)) {
      a = make_loop(plus(left->count, 1), stride, child);
      return true;
    }
    if (right && right->body.stride_bytes == stride && same_form(left->body.child, right->body.child)) {
      a = make_loop(plus(left->count, right->count), stride, child);
      return true;
    }
  }
  if (right && distance == right->body.stride_bytes && same_form(a, right->body.child)) {
    a = make_loop(plus(right->count, 1), right->body.stride_bytes, a);
    return true;
  }
  return false;
}

std::int64_t distance(const std::vector<Item>& items, std::size_t from, std::size_t to) {
  return minus(items[to].displacement_bytes, items[from].displacement_bytes);
}

// Step i of a list: the form of entry i and the way to the next entry.
bool same_step(const std::vector<Item>& items, std::size_t i, std::size_t j) {
  return distance(items, i, i + 1) == distance(items, j, j + 1) && same_form(items[i], items[j]);
}

// The smallest p such that entry i + p is entry i moved by one distance, for all i: the borders of the sequence of
// steps (Knuth, Morris, Pratt: Fast pattern matching in strings, SIAM J. Computing 6, 1977). The list's size if none.
std::size_t find_period(const std::vector<Item>& items) {
  const std::size_t steps = items.size() - 1;
  std::vector<std::size_t> border(steps + 1, 0);
  for (std::size_t i = 1, length = 0; i < steps; ++i) {
    while (length > 0 && !same_step(items, i, length)) length = border[length];
    if (same_step(items, i, length)) ++length;
    border[i + 1] = length;
  }
  for (std::size_t length = border[steps];; length = border[length]) {
    const std::size_t period = steps - length;
    if (same_form(items[steps], items[steps - period])) return period;
    if (length == 0) return items.size();
  }
}

Item loop_over(const std::vector<Item>& items, std::size_t first, std::size_t period, std::size_t repeats) {
  const auto begin = items.begin() + static_cast<std::ptrdiff_t>(first);
  Item child = join({begin, begin + static_cast<std::ptrdiff_t>(period)});
  return make_loop(static_cast<std::int64_t>(repeats), distance(items, first, first + period), child);
}

// How often the `period` entries at `first` come, each time moved by the same distance.
std::size_t repeats_at(const std::vector<Item>& items, std::size_t first, std::size_t period) {
  if (first + 2 * period > items.size()) return 1;
  const std::int64_t stride = distance(items, first, first + period);
  std::size_t i = first;
  while (i + period < items.size() && distance(items, i, i + period) == stride &&
         same_form(items[i], items[i + period]))
    ++i;
  return (i - first) / period + 1;
}

}  // namespace

std::vector<Item> merge_neighbours(std::vector<Item> items) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].is_empty() || (kept > 0 && extend(items[kept - 1], items[i]))) continue;
    if (kept != i) items[kept] = std::move(items[i]);
    ++kept;
  }
  items.resize(kept);
  return items;
}

std::vector<Item> find_repeats(std::vector<Item> items) {
  std::vector<Item> result;
  for (std::size_t i = 0; i < items.size();) {
    std::size_t period = 1, repeats = 1;
    for (std::size_t p = 1; p <= longest_local_period && repeats == 1; ++p) {
      const std::size_t found = repeats_at(items, i, p);
      if (found >= least_local_repeats && found * p >= least_entries_replaced) period = p, repeats = found;
    }
    result.push_back(repeats == 1 ? items[i] : loop_over(items, i, period, repeats));
    i += period * repeats;
  }
  return result;
}

Item join(std::vector<Item> items) {
  items = merge_neighbours(dissolve(merge_neighbours(std::move(items))));
  if (items.empty()) return {};
  if (items.size() == 1) return std::move(items[0]);
  const std::size_t size = items.size(), period = find_period(items), repeats = size / period;
  if (repeats >= 2 && size % period == 0) return loop_over(items, 0, period, repeats);
  if (size < least_entries_replaced) return make_list(std::move(items));
  std::vector<Item> shorter = find_repeats(items);
  if (shorter.size() == size) return make_list(std::move(items));
  return join(std::move(shorter));
}

}  // namespace millrace::layout
