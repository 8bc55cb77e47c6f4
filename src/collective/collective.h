// The collectives of a group. Every rank calls the same ones in the same order with equal bytes, root and reducer.
// Buffers: `in` and `out` are the same pointer (MPI_IN_PLACE) or disjoint; they may be null where nothing is read or
// written there (no elements, `out` on ranks that are not the root). Results are the left fold in rank order and the
// same bits on every rank, whatever the size, except where a tree was chosen for the reduction. No allocation, no
// system call while every rank has a core of its own. Whether a result is ok is the same on all ranks only for
// not_supported.
#pragma once

#include <cstddef>

#include "collective/blocking.h"
#include "collective/group.h"
#include "collective/reducer.h"
#include "collective/result.h"

namespace millrace::collective {

Result barrier(Group& group);
// A rank other than the root may expect other bytes than the root sends (wrong by the standard), where both go through
// the same algorithm: `came_bytes` is what the root sent, or truncated if that is more, and then the first `bytes`.
Result bcast(Group& group, void* buffer, std::size_t bytes, std::uint32_t root, std::size_t* came_bytes = nullptr);
// `out` is used on the root only. in == out on the root: in place.
Result reduce(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer,
              std::uint32_t root);
Result allreduce(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer);
// Reduces all elements of `blocks`, and gives each rank its block: out[0 .. count of this rank). `in` and `out` are
// disjoint. `blocks` is the same on all ranks.
Result reduce_scatter(Group& group, const void* in, void* out, const Blocking& blocks, const Reducer& reducer);
// Rank r gets the left fold of ranks 0 .. r. exscan: of 0 .. r - 1, and rank 0 nothing: its `out` is not touched, and
// may be null.
Result scan(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer);
Result exscan(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer);

}  // namespace millrace::collective
