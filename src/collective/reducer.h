// What a reduction does to elements: a kernel of ours or a function of the user.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/kernel.h"

namespace millrace::collective {

// inout = in op inout, as MPI_User_function; `context` carries what the shim needs (function, handle of the type).
using UserReduce = void (*)(void* context, const void* in, void* inout, std::size_t elements);

struct Reducer {
  std::size_t element_bytes = 0;  // distance of elements, which must be without gaps between them; > 0
  bool commutative = true;
  bool any_order = false;  // the same bits in whatever order and grouping: integers and truth values
  // The result must be the left fold in rank order: it is another one in another order. In one node it always is.
  bool in_rank_order = false;
  // Either all kernels ...
  kernel::Reduce2 reduce2 = nullptr;
  kernel::Reduce3 reduce3 = nullptr;
  kernel::ReduceN reduce_n = nullptr;
  // ... or this.
  UserReduce user = nullptr;
  void* context = nullptr;
  // For the wire between nodes (across/wire.h): the host's own handles of the type, and of an op that does the same.
  std::uintptr_t host_type = 0, host_op = 0;
};

// The Reducer of a predefined op on a predefined type; element_bytes is 0 if kernels do not cover the pair.
Reducer kernel_reducer(kernel::Op op, kernel::Type type);

// out = inputs[0] op inputs[1] op ... from the left. count >= 1. `out` is disjoint from every input, except that of two
// inputs it may be either; `scratch` (used by
// user functions only) holds as many elements as `out`, aligned to 64 bytes, disjoint from all.
void fold(const Reducer& reducer, const void* const* inputs, std::size_t count, void* out, std::size_t elements,
          void* scratch);

}  // namespace millrace::collective
