#include "shim/shared/kept_counts.h"

#include <algorithm>
#include <utility>

namespace millrace::shim {

std::uint64_t KeptCounts::keep(std::span<const std::size_t> counts) {
  if (std::ranges::equal(counts, counts_)) return number_;
  ++number_;  // where there is no memory nobody hears of it
  begins_.resize(counts.size());
  counts_.assign(counts.begin(), counts.end());
  return number_;
}

bool KeptCounts::are(std::uint64_t number, const CountsArray& array) const {
  if (number != number_) return false;
  for (std::size_t rank = 0; rank < counts_.size(); ++rank)
    if (std::cmp_not_equal(array[rank], counts_[rank])) return false;
  return true;
}

}  // namespace millrace::shim
