// Reductions of which each rank gets a part, or the result of those before it.
#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "collective/across/across.h"

namespace millrace::collective {
namespace {

// Of the part [first, first + length) of a block of so many elements.
std::size_t part_of(std::size_t count, std::size_t first, std::size_t length) {
  return count <= first ? 0 : std::min(length, count - first);
}

}  // namespace

Result Across::reduce_scatter(const void* in, void* out, const Blocking& blocks, const Reducer& reducer) {
  std::uint64_t sizes = blocks.elements() * reducer.element_bytes;
  for (std::uint32_t rank = 0; rank < blocks.ranks() && !blocks.are_alike(); ++rank)
    sizes = spread(sizes ^ blocks.count(rank));
  if (const Result result = begin(Kind::reduce_scatter, sizes, 0); result != Result::ok) return result;
  if (folds_rows(Kind::reduce_scatter, reducer))
    return reduce_scatter_rows(static_cast<const char*>(in), static_cast<char*>(out), blocks, reducer);
  // So much of every block at a time that all of it has room.
  const std::size_t length = piece_elements(reducer) / map_.ranks();
  for (std::size_t first = 0; first < blocks.most(); first += length) {
    const Result result = scatter_reduced(static_cast<const char*>(in), static_cast<char*>(out), blocks, reducer, first,
                                          std::min(length, blocks.most() - first));
    if (result != Result::ok) return result;
  }
  return Result::ok;
}

// By places: the blocks of all ranks at a place, of all nodes, are reduced by who has that place here; else by the
// leader.
Result Across::scatter_reduced(const char* in, char* out, const Blocking& blocks, const Reducer& reducer,
                               std::size_t first, std::size_t length) {
  const bool by_place = map_.is_even() && here_;
  const std::size_t element_bytes = reducer.element_bytes;
  const auto count_of = [&](std::uint32_t rank) { return part_of(blocks.count(rank), first, length); };
  const std::uint32_t parts = by_place ? places() : 1;
  const std::span<std::size_t> counts(counts_.get(), parts), begins(counts_.get() + parts, parts);
  char* to = room(0);
  std::fill(counts.begin(), counts.end(), 0);
  for (std::uint32_t part = 0; part < parts; ++part)
    for (std::uint32_t i = 0; i < map_.ranks() / parts; ++i) {
      const std::uint32_t rank = by_place ? map_.rank_at(i, part) : map_.in_node_order(i);
      const std::size_t bytes = count_of(rank) * element_bytes;
      std::memcpy(to, in + (blocks.begin(rank) + first) * element_bytes, bytes);
      to += bytes;
      counts[part] += count_of(rank);
    }
  const Blocking here_blocks(counts, begins);
  const Result reduced = by_place ? stepped(here_->reduce_scatter(room(0), room(1), here_blocks, reducer))
                                  : here_reduce(room(0), room(1), here_blocks.elements(), reducer, 0);
  if (reduced != Result::ok) return reduced;
  // Now between nodes: what each node's ranks get.
  for (std::uint32_t of = 0; of < map_.nodes(); ++of) {
    node_bytes_[of] = 0;
    for (std::uint32_t at = 0; at < map_.places(of); ++at)
      if (!by_place || at == place()) node_bytes_[of] += count_of(map_.rank_at(of, at));
  }
  const std::span<const std::size_t> node_counts(node_bytes_.get(), map_.nodes());
  if (by_place || leads()) {
    const Line line = by_place ? Line::places : Line::leaders;
    const Result result = stepped(wire_->reduce_scatter(line, room(1), room(0), node_counts, reducer, rooms_from(2)));
    if (result != Result::ok) return result;
  }
  char* const own = out + first * element_bytes;
  const std::size_t own_bytes = count_of(rank_) * element_bytes;
  if (by_place || leads()) {
    if (own_bytes != 0) std::memcpy(own, room(0), own_bytes);
    if (by_place) return Result::ok;
  }
  std::size_t sends = 0, receives = 0, offset = 0;
  for (std::uint32_t at = 0; at < places(); ++at) {
    const std::size_t bytes = count_of(map_.rank_at(node(), at)) * element_bytes;
    if (leads() && at != 0 && bytes != 0) sends_[sends++] = to_or_from(at, room(0) + offset, bytes);
    offset += bytes;
  }
  if (!leads() && own_bytes != 0) receives_[receives++] = to_or_from(0, own, own_bytes);
  return here_exchange(sends, receives);
}

Result Across::scan(const void* in, void* out, std::size_t elements, const Reducer& reducer, bool inclusive) {
  const Kind kind = inclusive ? Kind::scan : Kind::exscan;
  if (const Result result = begin(kind, elements * reducer.element_bytes, 0); result != Result::ok) return result;
  if (folds_rows(kind, reducer))
    return scan_rows(static_cast<const char*>(in), static_cast<char*>(out), elements, reducer, inclusive);
  const std::size_t piece = piece_elements(reducer);
  for (std::size_t first = 0; first < elements; first += piece) {
    const std::size_t offset = first * reducer.element_bytes;
    const Result result =
        scan_piece(static_cast<const char*>(in) + offset, out ? static_cast<char*>(out) + offset : nullptr,
                   std::min(piece, elements - first), reducer, inclusive);
    if (result != Result::ok) return result;
  }
  return Result::ok;
}

// Every node's last rank knows what its node comes to; the leaders find out what the nodes before come to.
Result Across::scan_piece(const void* in, void* out, std::size_t elements, const Reducer& reducer, bool inclusive) {
  const std::size_t bytes = elements * reducer.element_bytes;
  const std::uint32_t last = places() - 1;
  char *const total = room(0), *const own = room(1), *const scratch = room(2);
  if (place() == last) std::memcpy(own, in, bytes);  // `out` may be the same place
  if (!here_) {
    if (inclusive && in != out) std::memcpy(out, in, bytes);
  } else {
    const Result result = stepped(here_->scan(in, out, elements, reducer, inclusive));
    if (result != Result::ok) return result;
  }
  if (place() == last) {
    const void* const both[] = {out, own};
    if (inclusive)
      std::memcpy(total, out, bytes);
    else if (last == 0)
      std::memcpy(total, own, bytes);
    else
      fold(reducer, both, 2, total, elements, scratch);
  }
  if (const Result result = here_pass(last, 0, total, bytes); result != Result::ok) return result;
  if (leads())
    if (const Result result = stepped(wire_->exscan(Line::leaders, total, elements, reducer)); result != Result::ok)
      return result;
  if (node() == 0) return Result::ok;
  if (const Result result = here_bcast(total, bytes, 0); result != Result::ok) return result;
  const void* const before_and_own[] = {total, out};
  if (!inclusive && place() == 0)
    std::memcpy(out, total, bytes);
  else
    fold(reducer, before_and_own, 2, out, elements, scratch);
  return Result::ok;
}

}  // namespace millrace::collective
