#include "collective/collective.h"

#include <algorithm>
#include <cstring>

#include "collective/algorithms.h"

namespace millrace::collective {
namespace {

// What needs no other rank. The call still counts: mismatches later on are found by its number.
Result alone(Group& group, const Call& call) {
  group.finish(call);
  return Result::ok;
}

bool fits_cells(const Group& group, std::size_t bytes, std::uint32_t limit_bytes) {
  return bytes <= std::min<std::size_t>(limit_bytes, group.shape().cell_bytes);
}

bool use_pair(const Group& group) { return group.ranks() == 2 && group.selection().pair; }

// A chunk must hold at least an element per rank.
bool too_large(const Group& group, const Reducer& reducer) {
  return reducer.element_bytes == 0 || reducer.element_bytes > group.shape().slot_bytes / group.ranks();
}

}  // namespace

const Selection& standard_selection() {
  static constexpr Selection selection{};
  return selection;
}

Result barrier(Group& group) {
  Call call;
  if (const Result result = group.enter(Kind::barrier, 0, 0, call); result != Result::ok) return result;
  if (group.ranks() == 1) return alone(group, call);
  return use_pair(group) ? barrier_pair(group, call) : barrier_cells(group, call);
}

Result bcast(Group& group, void* buffer, std::size_t bytes, std::uint32_t root) {
  Call call;
  if (const Result result = group.enter(Kind::bcast, bytes, root, call); result != Result::ok) return result;
  if (bytes == 0 || group.ranks() == 1) return alone(group, call);
  if (fits_cells(group, bytes, group.selection().bcast_cells_bytes))
    return bcast_cells(group, call, buffer, bytes, root);
  return bcast_chunks(group, call, buffer, bytes, root);
}

Result reduce(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer,
              std::uint32_t root) {
  if (too_large(group, reducer)) return Result::not_supported;
  const std::size_t bytes = elements * reducer.element_bytes;
  Call call;
  if (const Result result = group.enter(Kind::reduce, bytes, root, call); result != Result::ok) return result;
  if (bytes == 0 || group.ranks() == 1) {
    if (bytes != 0 && in != out) std::memcpy(out, in, bytes);
    return alone(group, call);
  }
  if (fits_cells(group, bytes, group.selection().reduce_cells_bytes))
    return reduce_cells(group, call, in, out, elements, reducer, root);
  if (group.ranks() >= group.selection().reduce_slices_ranks)
    return reduce_slices(group, call, in, out, elements, reducer, root);
  return reduce_chunks(group, call, in, out, elements, reducer, root);
}

Result allreduce(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer) {
  if (too_large(group, reducer)) return Result::not_supported;
  const std::size_t bytes = elements * reducer.element_bytes;
  Call call;
  if (const Result result = group.enter(Kind::allreduce, bytes, 0, call); result != Result::ok) return result;
  if (bytes == 0 || group.ranks() == 1) {
    if (bytes != 0 && in != out) std::memcpy(out, in, bytes);
    return alone(group, call);
  }
  if (use_pair(group)) return allreduce_pair(group, call, in, out, elements, reducer);
  if (fits_cells(group, bytes, group.selection().allreduce_cells_bytes))
    return allreduce_cells(group, call, in, out, elements, reducer);
  return allreduce_slices(group, call, in, out, elements, reducer);
}

}  // namespace millrace::collective
