#include "collective/collective.h"

#include <cstring>

#include "collective/algorithms.h"

namespace millrace::collective {
namespace {

// What needs no other rank. The call still counts: mismatches later on are found by its number.
Result alone(Group& group, const Call& call, const void* in = nullptr, void* out = nullptr, std::size_t bytes = 0) {
  if (bytes != 0 && in != out) std::memcpy(out, in, bytes);
  group.finish(call);
  return Result::ok;
}

// A chunk must hold at least an element per rank.
bool too_large(const Group& group, const Reducer& reducer) {
  return reducer.element_bytes == 0 || reducer.element_bytes > group.shape().slot_bytes / group.ranks();
}

Algorithm chosen(const Group& group, Kind kind, std::size_t bytes, bool in_order) {
  return choose(group.selection(), kind, bytes, group.ranks(), group.shape().cell_bytes, in_order, group.crowded());
}

bool in_order(const Reducer& reducer) { return !reducer.commutative || !reducer.reduce2; }

}  // namespace

Result barrier(Group& group) {
  Call call;
  if (const Result result = group.enter(Kind::barrier, 0, 0, call); result != Result::ok) return result;
  switch (chosen(group, Kind::barrier, 0, false)) {
    case Algorithm::alone: return alone(group, call);
    case Algorithm::pair: return barrier_pair(group, call);
    case Algorithm::tree: return barrier_tree(group, call);
    default: return barrier_cells(group, call);
  }
}

Result bcast(Group& group, void* buffer, std::size_t bytes, std::uint32_t root, std::size_t* came_bytes) {
  Algorithm algorithm = chosen(group, Kind::bcast, bytes, false);
  if (algorithm == Algorithm::single_copy && !group.reads_memory()) algorithm = Algorithm::chunks;
  // The root says how many bytes it sends, but for the tree; so ranks need only have chosen the same.
  const std::uint64_t label = algorithm == Algorithm::tree ? bytes : ~static_cast<std::uint64_t>(algorithm);
  Call call;
  if (const Result result = group.enter(Kind::bcast, label, root, call); result != Result::ok) return result;
  std::size_t came = bytes;
  Result result = Result::ok;
  switch (algorithm) {
    case Algorithm::alone: result = alone(group, call); break;
    case Algorithm::cells: result = bcast_cells(group, call, buffer, came, root); break;
    case Algorithm::tree: result = bcast_tree(group, call, buffer, bytes, root); break;
    case Algorithm::single_copy: result = bcast_single_copy(group, call, buffer, came, root); break;
    default: result = bcast_chunks(group, call, buffer, came, root); break;
  }
  if (came_bytes) *came_bytes = came;
  return result == Result::ok && came > bytes ? Result::truncated : result;
}

Result reduce(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer,
              std::uint32_t root) {
  if (too_large(group, reducer)) return Result::not_supported;
  const std::size_t bytes = elements * reducer.element_bytes;
  Call call;
  if (const Result result = group.enter(Kind::reduce, bytes, root, call); result != Result::ok) return result;
  switch (chosen(group, Kind::reduce, bytes, in_order(reducer))) {
    case Algorithm::alone: return alone(group, call, in, out, bytes);
    case Algorithm::cells: return reduce_cells(group, call, in, out, elements, reducer, root);
    case Algorithm::tree: return reduce_tree(group, call, in, out, elements, reducer, root);
    case Algorithm::slices: return reduce_slices(group, call, in, out, elements, reducer, root);
    case Algorithm::chain: return reduce_chain(group, call, in, out, elements, reducer, root);
    default: return reduce_chunks(group, call, in, out, elements, reducer, root);
  }
}

Result allreduce(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer) {
  if (too_large(group, reducer)) return Result::not_supported;
  const std::size_t bytes = elements * reducer.element_bytes;
  Call call;
  if (const Result result = group.enter(Kind::allreduce, bytes, 0, call); result != Result::ok) return result;
  switch (chosen(group, Kind::allreduce, bytes, in_order(reducer))) {
    case Algorithm::alone: return alone(group, call, in, out, bytes);
    case Algorithm::pair: return allreduce_pair(group, call, in, out, elements, reducer);
    case Algorithm::cells: return allreduce_cells(group, call, in, out, elements, reducer);
    case Algorithm::tree: return allreduce_tree(group, call, in, out, elements, reducer);
    case Algorithm::chain: return allreduce_chain(group, call, in, out, elements, reducer);
    default: return allreduce_slices(group, call, in, out, elements, reducer);
  }
}

}  // namespace millrace::collective
