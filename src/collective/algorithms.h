// One function per algorithm, as collective.h says of each collective; the file of the same name explains it. `bytes`
// and `elements` are > 0, the group has at least two ranks, and the size fits the algorithm (see its comment).
#pragma once

#include <cstddef>
#include <cstdint>

#include "collective/group.h"
#include "collective/reducer.h"

namespace millrace::collective {

Result barrier_pair(Group& group, const Call& call);
Result barrier_cells(Group& group, const Call& call);
Result bcast_cells(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root);
Result bcast_chunks(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root);
Result bcast_single_copy(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root);
Result reduce_cells(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                    const Reducer& reducer, std::uint32_t root);
Result reduce_chunks(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                     const Reducer& reducer, std::uint32_t root);
Result reduce_slices(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                     const Reducer& reducer, std::uint32_t root);
Result reduce_chain(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                    const Reducer& reducer, std::uint32_t root);
Result allreduce_pair(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                      const Reducer& reducer);
Result allreduce_cells(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                       const Reducer& reducer);
Result allreduce_slices(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                        const Reducer& reducer);
Result allreduce_chain(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                       const Reducer& reducer);

// Up to a cell; reductions by kernels of commutative ops only, in the order of the tree.
Result barrier_tree(Group& group, const Call& call);
Result bcast_tree(Group& group, const Call& call, void* buffer, std::size_t bytes, std::uint32_t root);
Result reduce_tree(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                   const Reducer& reducer, std::uint32_t root);
Result allreduce_tree(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                      const Reducer& reducer);

}  // namespace millrace::collective
