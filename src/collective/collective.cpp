#include "collective/collective.h"

#include "collective/across/across.h"
#include "collective/algorithms.h"

namespace millrace::collective {
namespace {

// A chunk must hold at least an element per rank.
bool too_large(const Group& group, const Reducer& reducer) {
  return reducer.element_bytes == 0 || reducer.element_bytes > group.shape().slot_bytes / group.ranks();
}

const AlgorithmEntry& chosen(const Group& group, Kind kind, std::size_t bytes, bool in_order) {
  return choose(group.selection(), kind,
                {bytes, group.ranks(), group.shape().cell_bytes, in_order, group.crowded(), group.shape().slot_bytes,
                 group.in_background()});
}

bool in_order(const Reducer& reducer) { return !reducer.commutative || !reducer.reduce2; }

}  // namespace

Result barrier(Group& group) {
  if (Across* const across = group.enter_across()) return across->barrier();
  Call call;
  if (const Result result = group.enter(Kind::barrier, 0, 0, call); result != Result::ok) return result;
  return chosen(group, Kind::barrier, 0, false).run.barrier(group, call);
}

Result bcast(Group& group, void* buffer, std::size_t bytes, std::uint32_t root, std::size_t* came_bytes) {
  if (Across* const across = group.enter_across()) return across->bcast(buffer, bytes, root);
  const AlgorithmEntry* entry = &chosen(group, Kind::bcast, bytes, false);
  if (entry->algorithm == Algorithm::single_copy && !group.reads_memory())
    entry = find_algorithm(Kind::bcast, Algorithm::chunks);
  // The root says how many bytes it sends, but for the tree; so ranks need only have chosen the same.
  const std::uint64_t label =
      entry->algorithm == Algorithm::tree ? bytes : ~static_cast<std::uint64_t>(entry->algorithm);
  Call call;
  if (const Result result = group.enter(Kind::bcast, label, root, call); result != Result::ok) return result;
  std::size_t came = bytes;
  const Result result = entry->run.bcast(group, call, buffer, came, root);
  if (came_bytes) *came_bytes = came;
  return result == Result::ok && came > bytes ? Result::truncated : result;
}

Result reduce(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer,
              std::uint32_t root) {
  if (Across* const across = group.enter_across()) return across->reduce(in, out, elements, reducer, root);
  if (too_large(group, reducer)) return Result::not_supported;
  const std::size_t bytes = elements * reducer.element_bytes;
  Call call;
  if (const Result result = group.enter(Kind::reduce, bytes, root, call); result != Result::ok) return result;
  return chosen(group, Kind::reduce, bytes, in_order(reducer))
      .run.reduce(group, call, in, out, elements, reducer, root);
}

Result allreduce(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer) {
  if (Across* const across = group.enter_across()) return across->allreduce(in, out, elements, reducer);
  if (too_large(group, reducer)) return Result::not_supported;
  const std::size_t bytes = elements * reducer.element_bytes;
  Call call;
  if (const Result result = group.enter(Kind::allreduce, bytes, 0, call); result != Result::ok) return result;
  return chosen(group, Kind::allreduce, bytes, in_order(reducer))
      .run.allreduce(group, call, in, out, elements, reducer);
}

Result reduce_scatter(Group& group, const void* in, void* out, const Blocking& blocks, const Reducer& reducer) {
  if (Across* const across = group.enter_across()) return across->reduce_scatter(in, out, blocks, reducer);
  if (too_large(group, reducer)) return Result::not_supported;
  const std::size_t bytes = blocks.elements() * reducer.element_bytes;
  std::uint64_t label = bytes;
  for (std::uint32_t rank = 0; rank < blocks.ranks() && !blocks.are_alike(); ++rank)
    label = spread(label ^ blocks.count(rank)) >> 24;  // enter() keeps the low bits
  Call call;
  if (const Result result = group.enter(Kind::reduce_scatter, label, 0, call); result != Result::ok) return result;
  return chosen(group, Kind::reduce_scatter, bytes, in_order(reducer))
      .run.reduce_scatter(group, call, in, out, blocks, reducer);
}

namespace {

Result scan_as(Group& group, Kind kind, const void* in, void* out, std::size_t elements, const Reducer& reducer) {
  if (Across* const across = group.enter_across()) return across->scan(in, out, elements, reducer, kind == Kind::scan);
  if (too_large(group, reducer)) return Result::not_supported;
  const std::size_t bytes = elements * reducer.element_bytes;
  Call call;
  if (const Result result = group.enter(kind, bytes, 0, call); result != Result::ok) return result;
  return chosen(group, kind, bytes, true).run.scan(group, call, in, out, elements, reducer, kind == Kind::scan);
}

}  // namespace

Result scan(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer) {
  return scan_as(group, Kind::scan, in, out, elements, reducer);
}

Result exscan(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer) {
  return scan_as(group, Kind::exscan, in, out, elements, reducer);
}

}  // namespace millrace::collective
