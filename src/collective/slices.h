// The steps that Reduce and Allreduce by slices share.
//
// A chunk is cut into one slice per rank. Rank r fills its slot with its elements of all slices but its own; slice r is
// reduced by rank r, in rank order, from everybody's slots and its own buffer, into slice r of its own slot, which
// nobody filled; from there it is copied to where it is wanted. That the first chunk is filled stands in the cell.
//
//   slot of rank 0   [ result 0 | x0 slice 1 | x0 slice 2 ]
//   slot of rank 1   [ x1 slice 0 | result 1 | x1 slice 2 ]
//   slot of rank 2   [ x2 slice 0 | x2 slice 1 | result 2 ]
#pragma once

#include "collective/algorithms.h"
#include "collective/chunking.h"

namespace millrace::collective {

class Slices {
 public:
  Slices(Group& group, const Call& call, const void* in, void* out, std::size_t elements, const Reducer& reducer,
         std::size_t chunk_bytes)
      : group_(group),
        call_(call),
        reducer_(reducer),
        in_(static_cast<const char*>(in)),
        out_(static_cast<char*>(out)),
        chunking_(group, elements, reducer.element_bytes, chunk_bytes),
        first_(group.take_chunks(chunking_.count)) {}

  std::uint64_t count() const { return chunking_.count; }
  std::uint64_t first() const { return first_; }

  Result fill(std::uint64_t index);      // chunk `index` of own elements into the own slot
  Result reduce(std::uint64_t index);    // the own slice of it
  Result copy_out(std::uint64_t index);  // everybody's slices of it

 private:
  Extent slice(Extent chunk, std::uint32_t rank) const { return chunking_.slice(chunk, rank, group_.ranks()); }

  Group& group_;
  const Call& call_;
  const Reducer& reducer_;
  const char* in_;
  char* out_;
  Chunking chunking_;
  std::uint64_t first_;
};

}  // namespace millrace::collective
