// How the elements of a Reduce_scatter are shared out: a block of them for each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace::collective {

class Blocking {
 public:
  // As many for each.
  Blocking(std::size_t count, std::uint32_t ranks) : count_(count), ranks_(ranks), elements_(count * ranks) {}
  // So many for each rank; `begins`: room for as many numbers. Both must outlive this.
  Blocking(std::span<const std::size_t> counts, std::span<std::size_t> begins)
      : counts_(counts), begins_(begins), ranks_(static_cast<std::uint32_t>(counts.size())) {
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      begins[rank] = elements_;
      elements_ += counts[rank];
      if (counts[rank] > count_) count_ = counts[rank];
    }
  }

  std::size_t elements() const { return elements_; }  // of all blocks
  std::size_t most() const { return count_; }         // of the largest
  std::uint32_t ranks() const { return ranks_; }
  bool are_alike() const { return counts_.empty(); }
  std::size_t count(std::uint32_t rank) const { return counts_.empty() ? count_ : counts_[rank]; }
  std::size_t begin(std::uint32_t rank) const { return counts_.empty() ? count_ * rank : begins_[rank]; }

 private:
  std::span<const std::size_t> counts_, begins_;
  std::size_t count_ = 0;
  std::uint32_t ranks_;
  std::size_t elements_ = 0;
};

}  // namespace millrace::collective
