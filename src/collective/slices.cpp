#include "collective/slices.h"

namespace millrace::collective {

Result Slices::fill(std::uint64_t index) {
  const std::uint64_t number = first_ + index;
  if (const Result result = group_.slot_free(number); result != Result::ok) return result;
  if (index == 0)
    if (const Result result = group_.cell_free(call_); result != Result::ok) return result;
  const std::size_t each = reducer_.element_bytes;
  const Extent chunk = chunking_.chunk(index), own = slice(chunk, group_.rank());
  char* const slot = group_.slot(group_.rank(), number);
  const char* const from = in_ + chunk.begin * each;
  const std::size_t after = own.begin + own.elements;
  group_.leave(slot, from, own.begin * each);
  group_.leave(slot + after * each, from + after * each, (chunk.elements - after) * each);
  if (index == 0)
    group_.post(call_);
  else
    group_.publish(group_.self().filled.value, number + 1);
  return Result::ok;
}

Result Slices::reduce(std::uint64_t index) {
  const std::uint64_t number = first_ + index;
  const Extent chunk = chunking_.chunk(index), own = slice(chunk, group_.rank());
  // Of a short chunk among many ranks, most have nothing to reduce, and look at nobody.
  if (own.elements == 0) return Result::ok;
  const std::size_t offset = own.begin * reducer_.element_bytes;
  const void** const inputs = group_.inputs();
  for (std::uint32_t rank = 0; rank < group_.ranks(); ++rank) {
    if (rank == group_.rank()) {
      inputs[rank] = in_ + chunk.begin * reducer_.element_bytes + offset;
      continue;
    }
    inputs[rank] = group_.slot(rank, number) + offset;
    const Result result =
        index == 0 ? group_.receive(rank, call_) : group_.wait(group_.member(rank).filled.value, number + 1);
    if (result != Result::ok) return result;
  }
  fold(reducer_, inputs, group_.ranks(), group_.slot(group_.rank(), number) + offset, own.elements, group_.scratch());
  group_.publish(group_.self().reduced.value, number + 1);
  return Result::ok;
}

Result Slices::copy_out(std::uint64_t index) {
  const std::uint64_t number = first_ + index;
  const std::size_t each = reducer_.element_bytes;
  const Extent chunk = chunking_.chunk(index);
  char* const to = out_ + chunk.begin * each;
  for (std::uint32_t turn = 0; turn < group_.ranks(); ++turn) {
    const std::uint32_t rank = (group_.rank() + turn) % group_.ranks();  // not all at the same rank at once
    const Extent part = slice(chunk, rank);
    if (part.elements == 0) continue;
    if (turn != 0)
      if (const Result result = group_.wait(group_.member(rank).reduced.value, number + 1); result != Result::ok)
        return result;
    group_.copy(to + part.begin * each, group_.slot(rank, number) + part.begin * each, part.elements * each);
  }
  return Result::ok;
}

}  // namespace millrace::collective
