// Reduce of a few bytes among many ranks, in rank order: of each `width` ranks in a row the first gathers their
// elements, in its cell, and the root reads those cells and reduces all rows by itself. Through everybody's own cell it
// would look at a line of every rank.
//
//   cells     [ x0 ] [ x1 ] [ x2 ] [ x3 ] [ x4 ] [ x5 ] [ x6 ] [ x7 ] [ x8 ]      width 3
//   leaders   [ x0 x1 x2 ]         [ x3 x4 x5 ]         [ x6 x7 x8 ]
#include <algorithm>

#include "collective/algorithms.h"

namespace millrace::collective {
namespace {

class Gathered {
 public:
  Gathered(Group& group, const Call& call, std::size_t bytes)
      : group_(group), call_(call), bytes_(bytes), width_(gathered_width(group.ranks())) {}

  // Leaves the own elements, or those of all who follow this rank.
  Result leave(const void* in) {
    const std::uint32_t self = group_.rank();
    const bool leads = self % width_ == 0;
    const std::size_t own_bytes = leads ? bytes_of(self) : bytes_;
    if (const Result result = group_.cell_free(call_, own_bytes); result != Result::ok) return result;
    char* const cell = group_.data(self, call_, own_bytes);
    group_.copy(cell, in, bytes_);
    for (std::uint32_t rank = self + 1; leads && rank < end_of(self); ++rank) {
      if (const Result result = group_.receive(rank, call_); result != Result::ok) return result;
      group_.copy(cell + (rank - self) * bytes_, group_.data(rank, call_, bytes_), bytes_);
    }
    group_.post(call_);
    return Result::ok;
  }

  // The rows of all ranks, in their order.
  Result take(const void** inputs) {
    for (std::uint32_t leader = 0; leader < group_.ranks(); leader += width_) {
      if (leader != group_.rank())
        if (const Result result = group_.receive(leader, call_); result != Result::ok) return result;
      const char* const rows = group_.data(leader, call_, bytes_of(leader));
      for (std::uint32_t rank = leader; rank < end_of(leader); ++rank) inputs[rank] = rows + (rank - leader) * bytes_;
    }
    return Result::ok;
  }

 private:
  std::uint32_t end_of(std::uint32_t leader) const { return std::min(leader + width_, group_.ranks()); }
  std::size_t bytes_of(std::uint32_t leader) const { return (end_of(leader) - leader) * bytes_; }

  Group& group_;
  const Call& call_;
  const std::size_t bytes_;
  const std::uint32_t width_;
};

}  // namespace

Result reduce_gathered(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                       const Reducer& reducer, std::uint32_t root) {
  Gathered rows(group, call, elements * reducer.element_bytes);
  if (const Result result = rows.leave(in); result != Result::ok) return result;
  if (group.rank() == root) {
    if (const Result result = rows.take(group.inputs()); result != Result::ok) return result;
    fold(reducer, group.inputs(), group.ranks(), out, elements, group.scratch());
  }
  group.finish(call);
  return Result::ok;
}

}  // namespace millrace::collective
