#include "layout/lower.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "layout/checked.h"

namespace millrace::layout {
namespace {

// Bounds of what has been put together so far. Markers, where there are any, are the only ones that count.
void include_bounds(Meaning& whole, const Meaning& part, std::int64_t displacement) {
  if (!part.has_bounds) return;
  whole.alignment = std::max(whole.alignment, part.alignment);
  const std::int64_t lb = plus(part.lb, displacement), ub = plus(part.ub, displacement);
  if (!whole.has_bounds || (part.is_marked && !whole.is_marked)) {
    whole.lb = lb;
    whole.ub = ub;
  } else if (part.is_marked == whole.is_marked) {
    whole.lb = std::min(whole.lb, lb);
    whole.ub = std::max(whole.ub, ub);
  }
  whole.has_bounds = true;
  whole.is_marked = whole.is_marked || part.is_marked;
}

void round_up_extent(Meaning& meaning) {
  if (!meaning.has_bounds || meaning.is_marked || meaning.alignment <= 1) return;
  const std::int64_t rest = meaning.extent() % meaning.alignment;
  if (rest > 0) meaning.ub = plus(meaning.ub, meaning.alignment - rest);
}

void use_host_bounds(Meaning& meaning, const Bounds& bounds) {
  meaning.lb = bounds.lb_bytes;
  meaning.ub = plus(bounds.lb_bytes, bounds.extent_bytes);
  meaning.has_bounds = meaning.has_bounds || bounds.lb_bytes != 0 || bounds.extent_bytes != 0;
}

Meaning lower_named(const Description& description) {
  Meaning result;
  std::vector<Item> items;
  for (const Piece& piece : description.pieces) {
    require(piece.length_bytes >= 0);
    items.push_back(make_block(piece.displacement_bytes, piece.length_bytes));
  }
  require(description.extent_bytes >= 0 && description.alignment_bytes >= 1);
  result.item = join(std::move(items));
  result.has_bounds = true;
  result.ub = description.extent_bytes;
  result.alignment = description.alignment_bytes;
  return result;
}

Meaning lower_vector(const Description& description, const Meaning& child, std::int64_t unit_bytes) {
  require(description.count >= 0 && description.block_length >= 0);
  const Meaning block = repeat(child, description.block_length, child.extent());
  return repeat(block, description.count, times(description.stride, unit_bytes));
}

struct BlockAt {
  std::int64_t displacement_bytes, elements;
  const Meaning* child;
};

// Lists of blocks: `block(i)` for i < size.
template <class Block>
Meaning lower_blocks(std::size_t size, const Block& block) {
  Meaning result, run;
  std::vector<Item> items;
  items.reserve(size);
  BlockAt made{0, -1, nullptr};  // what `run` is: neighbours are often of one length
  for (std::size_t i = 0; i < size; ++i) {
    const BlockAt at = block(i);
    require(at.elements >= 0);
    if (at.elements != made.elements || at.child != made.child) {
      run = repeat(*at.child, at.elements, at.child->extent());
      made = at;
    }
    include_bounds(result, run, at.displacement_bytes);
    if (!run.item.is_empty()) items.push_back(moved(run.item, at.displacement_bytes));
  }
  result.item = join(std::move(items));
  return result;
}

Meaning lower_indexed(const Description& description, const Meaning& child, std::int64_t unit_bytes) {
  const auto &lengths = description.block_lengths, &displacements = description.displacements;
  require(lengths.size() == displacements.size());
  return lower_blocks(lengths.size(), [&](std::size_t i) {
    return BlockAt{times(displacements[i], unit_bytes), lengths[i], &child};
  });
}

Meaning lower_indexed_block(const Description& description, const Meaning& child, std::int64_t unit_bytes) {
  const auto& displacements = description.displacements;
  require(description.block_length >= 0);
  return lower_blocks(displacements.size(), [&](std::size_t i) {
    return BlockAt{times(displacements[i], unit_bytes), description.block_length, &child};
  });
}

Meaning lower_struct(const Description& description, const Meaning* const* children) {
  const auto &lengths = description.block_lengths, &displacements = description.displacements;
  require(lengths.size() == displacements.size() && lengths.size() == description.children.size());
  return lower_blocks(lengths.size(), [&](std::size_t i) {
    return BlockAt{displacements[i], lengths[i], children[i]};
  });
}

Meaning lower_resized(const Description& description, const Meaning& child) {
  Meaning result = child;
  result.has_bounds = result.is_marked = true;
  result.lb = description.lb_bytes;
  result.ub = plus(description.lb_bytes, description.extent_bytes);
  return result;
}

Meaning lower_one(const Description& description, const Meaning* const* children) {
  const Combiner combiner = description.combiner;
  if (combiner == Combiner::named) return lower_named(description);
  if (combiner == Combiner::struct_) return lower_struct(description, children);
  require(description.children.size() == 1);
  const Meaning& child = *children[0];
  switch (combiner) {
    case Combiner::dup: return child;
    case Combiner::contiguous: require(description.count >= 0); return repeat(child, description.count, child.extent());
    case Combiner::vector: return lower_vector(description, child, child.extent());
    case Combiner::hvector: return lower_vector(description, child, 1);
    case Combiner::indexed: return lower_indexed(description, child, child.extent());
    case Combiner::hindexed: return lower_indexed(description, child, 1);
    case Combiner::indexed_block: return lower_indexed_block(description, child, child.extent());
    case Combiner::hindexed_block: return lower_indexed_block(description, child, 1);
    case Combiner::subarray: return lower_subarray(description, child);
    case Combiner::darray: return lower_darray(description, child);
    case Combiner::resized: return lower_resized(description, child);
    case Combiner::named:
    case Combiner::struct_: break;
  }
  throw Failure{Status::bad_argument};
}

}  // namespace

std::int64_t Meaning::extent() const { return minus(ub, lb); }

Meaning repeat(const Meaning& child, std::int64_t count, std::int64_t stride_bytes) {
  if (count == 0) return {};
  Meaning result;
  include_bounds(result, child, 0);
  include_bounds(result, child, times(count - 1, stride_bytes));
  result.item = make_loop(count, stride_bytes, child.item);
  return result;
}

Meaning lower_node(const Description& description, const Meaning* const* children) {
  Meaning result = lower_one(description, children);
  round_up_extent(result);
  if (description.host_bounds) use_host_bounds(result, *description.host_bounds);
  return result;
}

Meaning lower(const Description& description) {
  std::unordered_map<const Description*, Meaning> known;
  std::vector<const Description*> waiting{&description};
  std::vector<const Meaning*> children;
  while (!waiting.empty()) {
    const Description& node = *waiting.back();
    const std::size_t before = waiting.size();
    children.clear();
    for (const DescriptionPtr& child : node.children) {
      require(child != nullptr);
      const auto found = known.find(child.get());
      if (found == known.end())
        waiting.push_back(child.get());
      else
        children.push_back(&found->second);
    }
    if (waiting.size() != before) continue;
    if (known.find(&node) == known.end()) known.emplace(&node, lower_node(node, children.data()));
    waiting.pop_back();
  }
  return known.at(&description);
}

}  // namespace millrace::layout
