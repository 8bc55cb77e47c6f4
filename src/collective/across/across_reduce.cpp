// Reductions of which every rank, or the root, gets the whole result.
#include <algorithm>
#include <cstring>

#include "collective/across/across.h"

namespace millrace::collective {

Result Across::reduce(const void* in, void* out, std::size_t elements, const Reducer& reducer, std::uint32_t root) {
  if (const Result result = begin(Kind::reduce, elements * reducer.element_bytes, root); result != Result::ok)
    return result;
  if (folds_rows(Kind::reduce, reducer))
    return reduce_rows(static_cast<const char*>(in), static_cast<char*>(out), elements, reducer, root);
  const std::size_t piece = piece_elements(reducer);
  for (std::size_t first = 0; first < elements; first += piece) {
    const std::size_t offset = first * reducer.element_bytes;
    const Result result =
        reduce_piece(static_cast<const char*>(in) + offset, rank_ == root ? static_cast<char*>(out) + offset : nullptr,
                     std::min(piece, elements - first), reducer, root);
    if (result != Result::ok) return result;
  }
  return Result::ok;
}

Result Across::reduce_piece(const void* in, void* out, std::size_t elements, const Reducer& reducer,
                            std::uint32_t root) {
  const std::uint32_t root_node = map_.node_of(root), root_place = map_.place_of(root);
  const std::uint32_t crosser = map_.is_even() ? root_place : 0;
  const Line line = map_.is_even() ? Line::places : Line::leaders;
  char* const own = room(0);
  void* const result = rank_ == root ? out : room(1);
  if (const Result reduced = here_reduce(in, own, elements, reducer, crosser); reduced != Result::ok) return reduced;
  if (place() == crosser)
    if (const Result crossed_over =
            stepped(wire_->reduce(line, own, node() == root_node ? result : nullptr, elements, reducer, root_node));
        crossed_over != Result::ok)
      return crossed_over;
  return node() == root_node ? here_pass(crosser, root_place, result, elements * reducer.element_bytes) : Result::ok;
}

Result Across::allreduce(const void* in, void* out, std::size_t elements, const Reducer& reducer) {
  if (const Result result = begin(Kind::allreduce, elements * reducer.element_bytes, 0); result != Result::ok)
    return result;
  if (folds_rows(Kind::allreduce, reducer))
    return allreduce_rows(static_cast<const char*>(in), static_cast<char*>(out), elements, reducer);
  const bool in_parts = map_.is_even() && here_ && elements * reducer.element_bytes > led_by_one_bytes;
  // A rank's part of a piece has room.
  const std::size_t piece = piece_elements(reducer) * (in_parts ? places() : 1);
  for (std::size_t first = 0; first < elements; first += piece) {
    const std::size_t offset = first * reducer.element_bytes, length = std::min(piece, elements - first);
    const char* const from = static_cast<const char*>(in) + offset;
    char* const to = static_cast<char*>(out) + offset;
    const Result result =
        in_parts ? allreduce_parts(from, to, length, reducer) : allreduce_led(from, to, length, reducer);
    if (result != Result::ok) return result;
  }
  return Result::ok;
}

Result Across::allreduce_led(const void* in, void* out, std::size_t elements, const Reducer& reducer) {
  if (const Result result = here_reduce(in, out, elements, reducer, 0); result != Result::ok) return result;
  if (leads())
    if (const Result result = stepped(wire_->allreduce(Line::leaders, out, elements, reducer, rooms_from(1)));
        result != Result::ok)
      return result;
  return here_bcast(out, elements * reducer.element_bytes, 0);
}

Result Across::allreduce_parts(const void* in, void* out, std::size_t elements, const Reducer& reducer) {
  const std::uint32_t parts = places();
  const std::span<std::size_t> counts(counts_.get(), parts), begins(counts_.get() + parts, parts);
  for (std::uint32_t part = 0; part < parts; ++part)
    counts[part] = elements * (part + 1) / parts - elements * part / parts;
  const Blocking blocks(counts, begins);
  const std::size_t own = counts[place()];
  if (const Result result = stepped(here_->reduce_scatter(in, room(0), blocks, reducer)); result != Result::ok)
    return result;
  if (own != 0)
    if (const Result result = stepped(wire_->allreduce(Line::places, room(0), own, reducer, rooms_from(1)));
        result != Result::ok)
      return result;
  const Data mine{own * reducer.element_bytes, room(0), nullptr, nullptr};
  for (std::uint32_t part = 0; part < parts; ++part)
    parts_[part] = {counts[part] * reducer.element_bytes,
                    static_cast<char*>(out) + begins[part] * reducer.element_bytes, nullptr, nullptr};
  return stepped(here_->publish(history_ >> 24, mine, {parts_.get(), parts}, 0));
}

}  // namespace millrace::collective
