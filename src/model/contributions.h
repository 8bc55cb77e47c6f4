// What ranks contribute to the calls that are modelled, and what must come of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/selection.h"

namespace millrace::model {

using Element = std::int32_t;

// So that each rank's is another.
inline Element contribution(std::uint32_t rank, std::size_t index) {
  return static_cast<Element>((std::size_t{rank} * 31 + index * 7) % 1009);
}

// Collectives of blocks: each rank has one for everybody, or gets one of everybody.
constexpr bool moves_blocks(collective::Kind kind) {
  using collective::Kind;
  return kind == Kind::gather || kind == Kind::scatter || kind == Kind::allgather || kind == Kind::alltoall;
}
// Of `elements` that all buffers hold, together, where there are blocks for all; root 0.
class Contributions {
 public:
  // `bytes` of a rank's buffer, or of a block. The same from each of `nodes`.
  Contributions(collective::Kind kind, std::uint32_t ranks, std::uint32_t nodes, std::size_t bytes);

  std::size_t elements() const { return elements_; }  // of a buffer, or a block
  std::size_t bytes() const { return elements_ * sizeof(Element); }
  std::size_t buffer_bytes() const { return blocks_ * bytes(); }  // of what each rank sends or gets, the larger

  void fill(std::uint32_t rank, Element* in) const;
  // Whether `rank` has what it must have. Ranks are asked about in their order.
  bool are_right(std::uint32_t rank, const Element* out);

 private:
  std::size_t expect(std::uint32_t rank);  // returns how many elements are known

  const collective::Kind kind_;
  const std::uint32_t ranks_, nodes_;
  const std::size_t elements_, blocks_;
  std::vector<Element> sum_;  // of all, or of those asked about
  std::vector<Element> expected_;
};

}  // namespace millrace::model
