// What the array of an MPI_Reduce_scatter said that may come again: the next one with the same words is done as that
// one was if its array says the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/blocking.h"

namespace millrace::shim {

// An array of the program's, one number for each rank.
struct CountsArray {
  const void* first = nullptr;
  bool is_wide = false;  // of MPI_Count, else of int

  std::int64_t operator[](std::size_t rank) const {
    return is_wide ? static_cast<const std::int64_t*>(first)[rank] : static_cast<const int*>(first)[rank];
  }
};

// `begins`: as of Blocking. Where all blocks are alike, as those of MPI_Reduce_scatter_block.
inline collective::Blocking blocking_of(std::span<const std::size_t> counts, std::span<std::size_t> begins) {
  const bool alike = std::ranges::all_of(counts, [&](std::size_t count) { return count == counts.front(); });
  return alike ? collective::Blocking(counts.front(), static_cast<std::uint32_t>(counts.size()))
               : collective::Blocking(counts, begins);
}

// Of one communicator; one thread at a time. The last ones only.
class KeptCounts {
 public:
  // The number of what is kept now, which nothing else before has had. Throws std::bad_alloc.
  std::uint64_t keep(std::span<const std::size_t> counts);
  // Whether what is kept has this number, and `array` says so.
  bool are(std::uint64_t number, const CountsArray& array) const;
  // Valid until the next keep().
  collective::Blocking blocks() { return blocking_of(counts_, begins_); }

 private:
  std::uint64_t number_ = 0;
  std::vector<std::size_t> counts_, begins_;
};

}  // namespace millrace::shim
