// Reduce and Allreduce along a chain of the ranks, for ranks that have no core each, and for much data.
//
// The running result of a chunk lies in one slot. Rank 0 copies its elements there, each rank in turn reduces its own
// into it, straight from the program's buffer, and from the last rank on it is the result. Ranks that share a core run
// one after the other anyway; this way they copy nothing in, where slices (slices.h) copy every element once before it
// is reduced. Slots of all ranks serve, so that a rank does many chunks each time it gets a core. Where each
// has one, a rank reads one row from another core, in order, where in slices it reads a short piece of each row at
// once.
//
//   chunk number   0 .. slots-1    slots .. 2*slots-1   ...   (ranks*slots) ..
//   in slots of    rank 0          rank 1               ...   rank 0 again
#pragma once

#include "collective/algorithms.h"
#include "collective/chunking.h"

namespace millrace::collective {

class Chain {
 public:
  // `copies_out`: this rank wants the result in `out`.
  Chain(Group& group, const Call& call, const void* in, void* out, std::size_t elements, const Reducer& reducer,
        bool copies_out);

  Result run();

 private:
  char* slot(std::uint64_t number) const {
    return group_.slot(static_cast<std::uint32_t>(number / group_.shape().slots % group_.ranks()), number);
  }
  Result begin(std::uint64_t number);
  Result fold(std::uint64_t index);
  Result copy_out(std::uint64_t index);

  Group& group_;
  const Call& call_;
  const Reducer& reducer_;
  const char* in_;
  char* out_;
  Chunking chunking_;
  std::uint64_t first_;
  std::uint64_t free_below_;  // chunks below this number may be begun
  bool copies_out_;
};

}  // namespace millrace::collective
