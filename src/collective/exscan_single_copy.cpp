// Exscan of two ranks: what the first contributes is the result of the second. A Bcast from the first, whose own result
// is none (MPI 4.1, chapter 6.11.2).
#include "collective/algorithms.h"

namespace millrace::collective {

Result exscan_single_copy(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                          const Reducer& reducer, bool inclusive) {
  if (!group.reads_memory()) return scan_chain(group, call, in, out, elements, reducer, inclusive);
  std::size_t bytes = elements * reducer.element_bytes;
  const std::size_t expected_bytes = bytes;
  // The root only reads its buffer.
  void* const buffer = group.rank() == 0 ? const_cast<void*>(in) : out;
  const Result result = bcast_single_copy(group, call, buffer, bytes, 0);
  return result == Result::ok && bytes != expected_bytes ? group.fail(Result::mismatch) : result;
}

}  // namespace millrace::collective
