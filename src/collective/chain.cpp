#include "collective/chain.h"

#include <algorithm>

namespace millrace::collective {
namespace {

// A rank reduces so many chunks before it waits for the result of the first: few enough that they stay in the caches.
constexpr std::uint64_t chunks_ahead = 16;

std::uint32_t chunk_bytes(const Group& group, std::size_t bytes) {
  return chain_chunk_bytes(group.selection(), {.bytes = bytes, .ranks = group.ranks(), .crowded = group.crowded()});
}

}  // namespace

Chain::Chain(Group& group, const Call& call, const void* in, void* out, std::size_t elements, const Reducer& reducer,
             bool copies_out)
    : group_(group),
      call_(call),
      reducer_(reducer),
      in_(static_cast<const char*>(in)),
      out_(static_cast<char*>(out)),
      chunking_(group, elements, reducer.element_bytes, chunk_bytes(group, elements * reducer.element_bytes)),
      first_(group.take_chunks(chunking_.count)),
      free_below_(first_),
      copies_out_(copies_out) {}

// Rank 0 only: makes sure that nobody uses the slot any more. Before this call slots were used by other rules, so its
// first chunk waits until all ranks are done with all earlier calls.
Result Chain::begin(std::uint64_t number) {
  if (number < free_below_) return Result::ok;
  const std::uint64_t window = std::uint64_t{group_.shape().slots} * group_.ranks();
  const std::uint64_t needed = std::max(first_, number + 1 - std::min(number + 1, window));
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t rank = 1; rank < group_.ranks(); ++rank) {
    const std::atomic<std::uint64_t>& done = group_.member(rank).chunks_done.value;
    if (const Result result = group_.wait(done, needed); result != Result::ok) return result;
    least = std::min(least, done.load(std::memory_order_acquire));  // partner: release in publish()
  }
  free_below_ = least + window;
  return Result::ok;
}

Result Chain::fold(std::uint64_t index) {
  const std::uint64_t number = first_ + index;
  const Extent chunk = chunking_.chunk(index);
  const char* const own = in_ + chunk.begin * reducer_.element_bytes;
  const bool is_last = group_.rank() + 1 == group_.ranks();
  if (index == 0 && !is_last)
    if (const Result result = group_.cell_free(call_); result != Result::ok) return result;
  if (group_.rank() == 0) {
    if (const Result result = begin(number); result != Result::ok) return result;
    group_.copy(slot(number), own, chunk.elements * reducer_.element_bytes);
  } else {
    const std::uint32_t before = group_.rank() - 1;
    const Result result =
        index == 0 ? group_.receive(before, call_) : group_.wait(group_.member(before).filled.value, number + 1);
    if (result != Result::ok) return result;
    const void* const inputs[] = {slot(number), own};
    collective::fold(reducer_, inputs, 2, slot(number), chunk.elements, group_.scratch());
  }
  // Of the first chunk a rank tells the next in its cell; the last one tells all of all chunks.
  if (index == 0 && !is_last)
    group_.post(call_);
  else
    group_.publish(group_.self().filled.value, number + 1);
  return Result::ok;
}

Result Chain::copy_out(std::uint64_t index) {
  const std::uint64_t number = first_ + index;
  const Extent chunk = chunking_.chunk(index);
  if (const Result result = group_.wait(group_.member(group_.ranks() - 1).filled.value, number + 1);
      result != Result::ok)
    return result;
  group_.copy(out_ + chunk.begin * reducer_.element_bytes, slot(number), chunk.elements * reducer_.element_bytes);
  return Result::ok;
}

// Nobody waits for ever: a rank waits for the result of a chunk only after it has reduced its own part of it, and for a
// chunk of the rank before it only while it is less than chunks_ahead, and so less than all slots, ahead of its copies.
Result Chain::run() {
  const std::uint64_t window = std::uint64_t{group_.shape().slots} * group_.ranks();
  const std::uint64_t ahead = std::min(chunks_ahead, window / 2);  // the slot of the next chunk was copied out
  std::uint64_t copied = 0;
  const auto catch_up = [&](std::uint64_t until) {
    for (; copied < until; ++copied) {
      if (copies_out_)
        if (const Result result = copy_out(copied); result != Result::ok) return result;
      group_.publish(group_.self().chunks_done.value, first_ + copied + 1);
    }
    return Result::ok;
  };
  for (std::uint64_t index = 0; index < chunking_.count; ++index) {
    Result result = fold(index);
    // A rank that does not want the result is done with the chunk.
    if (result == Result::ok) result = catch_up(copies_out_ ? index + 1 - std::min(index + 1, ahead) : index + 1);
    if (result != Result::ok) return result;
  }
  return catch_up(chunking_.count);
}

Result reduce_chain(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                    const Reducer& reducer, std::uint32_t root) {
  Chain chain(group, call, in, out, elements, reducer, group.rank() == root);
  if (const Result result = chain.run(); result != Result::ok) return result;
  group.finish(call);
  return Result::ok;
}

Result allreduce_chain(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                       const Reducer& reducer) {
  Chain chain(group, call, in, out, elements, reducer, true);
  if (const Result result = chain.run(); result != Result::ok) return result;
  group.finish(call);
  return Result::ok;
}

}  // namespace millrace::collective
