// Calls whose sizes are known before they are made: what does them, and what their label is made of. For callers that
// make one like it many times; collective.h and exchange.h say what each does, and make theirs anew each time.
//
//   const KnownCall call = known_bcast(group, bytes, root);   // the same on every rank, if the program is right
//   bcast(group, call, buffer, bytes, root); ...              // as often as wanted, with these bytes and this root
//
// Of groups with memory of their own: not of those whose ranks are on several nodes (across/across.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "collective/algorithms.h"
#include "collective/blocks.h"

namespace millrace::collective {

struct KnownCall {
  const AlgorithmEntry* entry = nullptr;
  std::uint64_t what = 0;  // of Group::enter()
};

KnownCall known_barrier(const Group& group);
KnownCall known_bcast(const Group& group, std::size_t bytes, std::uint32_t root);
// Of Reduce, Allreduce, Scan and Exscan; `bytes`: of what a rank contributes, `root`: of Reduce, else 0. Without an
// entry: the group does not do it.
KnownCall known_reduction(const Group& group, Kind kind, std::size_t bytes, const Reducer& reducer, std::uint32_t root);
KnownCall known_reduce_scatter(const Group& group, const Blocking& blocks, const Reducer& reducer);
// Of exchange_blocks(); `root`: of Gather and Scatter. Without an entry: blocks of so many bytes do not go that way.
KnownCall known_blocks(const Group& group, Kind kind, std::size_t bytes, std::uint32_t root);

inline Result barrier(Group& group, const KnownCall& known) {
  Call call;
  if (const Result result = group.enter(known.what, call); result != Result::ok) return result;
  return known.entry->run.barrier(group, call);
}
Result bcast(Group& group, const KnownCall& known, void* buffer, std::size_t bytes, std::uint32_t root,
             std::size_t* came_bytes);
inline Result reduce(Group& group, const KnownCall& known, const void* in, void* out, std::size_t elements,
                     const Reducer& reducer, std::uint32_t root) {
  Call call;
  if (const Result result = group.enter(known.what, call); result != Result::ok) return result;
  return known.entry->run.reduce(group, call, in, out, elements, reducer, root);
}
inline Result allreduce(Group& group, const KnownCall& known, const void* in, void* out, std::size_t elements,
                        const Reducer& reducer) {
  Call call;
  if (const Result result = group.enter(known.what, call); result != Result::ok) return result;
  return known.entry->run.allreduce(group, call, in, out, elements, reducer);
}
inline Result reduce_scatter(Group& group, const KnownCall& known, const void* in, void* out, const Blocking& blocks,
                             const Reducer& reducer) {
  Call call;
  if (const Result result = group.enter(known.what, call); result != Result::ok) return result;
  return known.entry->run.reduce_scatter(group, call, in, out, blocks, reducer);
}
// Scan and Exscan.
inline Result scan(Group& group, const KnownCall& known, const void* in, void* out, std::size_t elements,
                   const Reducer& reducer) {
  Call call;
  if (const Result result = group.enter(known.what, call); result != Result::ok) return result;
  return known.entry->run.scan(group, call, in, out, elements, reducer, known.entry->kind == Kind::scan);
}
// `blocks`: complete, as exchange_blocks() wants them.
inline Result exchange_blocks(Group& group, const KnownCall& known, const Blocks& blocks) {
  Call call;
  if (const Result result = group.enter(known.what, call); result != Result::ok) return result;
  return known.entry->run.blocks(group, call, blocks);
}

}  // namespace millrace::collective
