#include "model/contributions.h"

#include <cstring>

namespace millrace::model {
namespace {

using collective::Kind;

constexpr bool has_blocks(Kind kind) { return moves_blocks(kind) || kind == Kind::reduce_scatter; }

}  // namespace

Contributions::Contributions(Kind kind, std::uint32_t ranks, std::uint32_t nodes, std::size_t bytes)
    : kind_(kind),
      ranks_(ranks),
      nodes_(nodes),
      elements_(kind == Kind::barrier ? 0 : bytes / sizeof(Element)),
      blocks_(has_blocks(kind) ? ranks : 1) {}

void Contributions::fill(std::uint32_t rank, Element* in) const {
  for (std::size_t index = 0; index < elements_ * blocks_; ++index) in[index] = contribution(rank, index);
}

std::size_t Contributions::expect(std::uint32_t rank) {
  const auto add = [&](std::uint32_t from) {
    sum_.resize(elements_);
    for (std::size_t index = 0; index < elements_; ++index) sum_[index] += contribution(from, index);
  };
  const auto take = [&](std::uint32_t from, std::size_t first, std::size_t count) {
    for (std::size_t index = 0; index < count; ++index) expected_.push_back(contribution(from, first + index));
  };
  expected_.clear();
  switch (kind_) {
    case Kind::barrier: break;
    case Kind::bcast:
      if (rank != 0 || nodes_ > 1) take(0, 0, elements_);
      break;
    case Kind::scatter: take(0, rank * elements_, elements_); break;
    case Kind::gather:
    case Kind::allgather:
      for (std::uint32_t from = 0; from < ranks_ && (kind_ == Kind::allgather || rank == 0); ++from)
        take(from, 0, elements_);
      break;
    case Kind::alltoall:
      for (std::uint32_t from = 0; from < ranks_; ++from) take(from, rank * elements_, elements_);
      break;
    case Kind::reduce_scatter:
      expected_.resize(elements_);
      for (std::uint32_t from = 0; from < ranks_; ++from)
        for (std::size_t index = 0; index < elements_; ++index)
          expected_[index] += contribution(from, rank * elements_ + index);
      break;
    case Kind::scan:
      add(rank);
      expected_ = sum_;
      break;
    case Kind::exscan:
      expected_ = sum_;  // empty for the first
      add(rank);
      break;
    default:
      if (kind_ == Kind::reduce && rank != 0) break;
      if (sum_.empty())
        for (std::uint32_t from = 0; from < ranks_; ++from) add(from);
      for (const Element element : sum_) expected_.push_back(element * static_cast<Element>(nodes_));
  }
  return expected_.size();
}

bool Contributions::are_right(std::uint32_t rank, const Element* out) {
  const std::size_t count = expect(rank);
  return count == 0 || std::memcmp(out, expected_.data(), count * sizeof(Element)) == 0;
}

}  // namespace millrace::model
