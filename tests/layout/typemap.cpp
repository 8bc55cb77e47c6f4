#include "typemap.h"

#include <algorithm>

namespace millrace::layout::test {
namespace {

struct TooLarge {};

class Writer {
 public:
  explicit Writer(std::size_t most) : most_(most) {}

  Typemap write(const Description& d) {
    Typemap map;
    switch (d.combiner) {
      case Combiner::named: map = named(d); break;
      case Combiner::dup: map = write(*d.children[0]); break;
      case Combiner::contiguous: {
        const Typemap child = write(*d.children[0]);
        for (std::int64_t i = 0; i < d.count; ++i) add(map, child, i * child.extent());
        break;
      }
      case Combiner::vector:
      case Combiner::hvector: {
        const Typemap child = write(*d.children[0]);
        const std::int64_t unit = d.combiner == Combiner::vector ? child.extent() : 1;
        for (std::int64_t i = 0; i < d.count; ++i) add_block(map, child, i * d.stride * unit, d.block_length);
        break;
      }
      case Combiner::indexed:
      case Combiner::hindexed:
      case Combiner::indexed_block:
      case Combiner::hindexed_block: {
        const Typemap child = write(*d.children[0]);
        const bool in_bytes = d.combiner == Combiner::hindexed || d.combiner == Combiner::hindexed_block;
        const bool has_lengths = d.combiner == Combiner::indexed || d.combiner == Combiner::hindexed;
        for (std::size_t i = 0; i < d.displacements.size(); ++i)
          add_block(map, child, d.displacements[i] * (in_bytes ? 1 : child.extent()),
                    has_lengths ? d.block_lengths[i] : d.block_length);
        break;
      }
      case Combiner::struct_:
        for (std::size_t i = 0; i < d.children.size(); ++i)
          add_block(map, write(*d.children[i]), d.displacements[i], d.block_lengths[i]);
        break;
      case Combiner::subarray: subarray(d, map); break;
      case Combiner::darray: darray(d, map); break;
      case Combiner::resized:
        map = write(*d.children[0]);
        map.markers = {{d.lb_bytes, d.lb_bytes + d.extent_bytes}};
        break;
    }
    set_bounds(map);
    if (d.host_bounds) {
      map.lb = d.host_bounds->lb_bytes;
      map.ub = map.lb + d.host_bounds->extent_bytes;
      (map.markers.empty() ? map.types : map.markers).assign(1, {map.lb, map.ub});
    }
    return map;
  }

 private:
  Typemap named(const Description& d) const {
    Typemap map;
    for (const Piece& piece : d.pieces)
      if (piece.length_bytes > 0) map.entries.push_back({piece.displacement_bytes, piece.length_bytes});
    map.types = {{0, d.extent_bytes}};
    map.alignment = d.alignment_bytes;
    return map;
  }

  void add(Typemap& map, const Typemap& child, std::int64_t at) const {
    if (map.entries.size() + child.entries.size() > most_ || map.types.size() > most_ || map.markers.size() > most_)
      throw TooLarge{};
    for (const Entry& e : child.entries) map.entries.push_back({e.displacement + at, e.size});
    for (const auto& span : child.types) map.types.push_back({span.lb + at, span.ub + at});
    for (const auto& span : child.markers) map.markers.push_back({span.lb + at, span.ub + at});
    if (!child.types.empty() || !child.markers.empty()) map.alignment = std::max(map.alignment, child.alignment);
  }

  void add_block(Typemap& map, const Typemap& child, std::int64_t at, std::int64_t elements) const {
    for (std::int64_t i = 0; i < elements; ++i) add(map, child, at + i * child.extent());
  }

  static void set_bounds(Typemap& map) {
    const auto& spans = map.markers.empty() ? map.types : map.markers;
    map.lb = map.ub = 0;
    if (spans.empty()) return;
    map.lb = spans[0].lb;
    map.ub = spans[0].ub;
    for (const auto& span : spans) {
      map.lb = std::min(map.lb, span.lb);
      map.ub = std::max(map.ub, span.ub);
    }
    // The padding is part of what a parent sees. Without markers the extent is never negative.
    if (map.markers.empty())
      while (map.extent() % map.alignment != 0) ++map.ub;
    if (map.markers.empty()) map.types.push_back({map.lb, map.ub});
  }

  // Calls visit(linear index) for the elements of an array that `has` says belong to us, fastest dimension first.
  template <class Has>
  void array(const Description& d, Typemap& map, const Has& has) {
    const Typemap child = write(*d.children[0]);
    const std::size_t dimensions = d.sizes.size();
    std::int64_t elements = 1;
    for (const std::int64_t size : d.sizes) elements *= size;
    if (elements > 200000) throw TooLarge{};
    for (std::int64_t linear = 0; linear < elements; ++linear) {
      std::int64_t rest = linear;
      bool ours = true;
      for (std::size_t k = 0; k < dimensions; ++k) {
        const std::size_t dimension = d.order == Order::c ? dimensions - 1 - k : k;
        ours = ours && has(dimension, rest % d.sizes[dimension]);
        rest /= d.sizes[dimension];
      }
      if (ours) add(map, child, linear * child.extent());
    }
    map.markers = {{0, elements * child.extent()}};
    map.alignment = child.alignment;
  }

  void subarray(const Description& d, Typemap& map) {
    array(d, map, [&](std::size_t dimension, std::int64_t index) {
      return index >= d.starts[dimension] && index < d.starts[dimension] + d.subsizes[dimension];
    });
  }

  void darray(const Description& d, Typemap& map) {
    // Coordinates in the process grid, which is row-major.
    std::vector<std::int64_t> place(d.sizes.size());
    std::int64_t rank = d.rank, below = d.processes;
    for (std::size_t k = 0; k < d.sizes.size(); ++k) {
      below /= d.process_sizes[k];
      place[k] = rank / below;
      rank %= below;
    }
    array(d, map, [&](std::size_t k, std::int64_t index) {
      const std::int64_t given = d.distribution_arguments[k], processes = d.process_sizes[k];
      if (d.distributions[k] == Distribution::none) return true;
      const bool is_block = d.distributions[k] == Distribution::block;
      const std::int64_t standard = is_block ? (d.sizes[k] + processes - 1) / processes : 1;
      const std::int64_t block = given == default_distribution_argument ? standard : given;
      return index / block % processes == place[k];
    });
  }

  std::size_t most_;
};

}  // namespace

std::int64_t Typemap::size() const {
  std::int64_t sum = 0;
  for (const Entry& e : entries) sum += e.size;
  return sum;
}
std::int64_t Typemap::true_lb() const {
  if (entries.empty()) return 0;
  std::int64_t low = entries[0].displacement;
  for (const Entry& e : entries) low = std::min(low, e.displacement);
  return low;
}
std::int64_t Typemap::true_ub() const {
  if (entries.empty()) return 0;
  std::int64_t high = entries[0].displacement + entries[0].size;
  for (const Entry& e : entries) high = std::max(high, e.displacement + e.size);
  return high;
}

bool Typemap::has_overlap(std::int64_t count) const {
  std::vector<Entry> all;
  for (std::int64_t i = 0; i < count; ++i)
    for (const Entry& e : entries) all.push_back({e.displacement + i * extent(), e.size});
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.displacement < b.displacement; });
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i - 1].displacement + all[i - 1].size > all[i].displacement) return true;
  return false;
}

std::optional<Typemap> write_out(const Description& description, std::size_t most_entries) {
  try {
    return Writer(most_entries).write(description);
  } catch (const TooLarge&) {
    return std::nullopt;
  }
}

}  // namespace millrace::layout::test
