// One call of exchange_shape.h, in whichever language and form it was made. Its arguments are read only where they are
// significant.
#pragma once

#include <cstdint>
#include <span>

#include "shim/call/arguments.h"
#include "shim/call/exchange_shape.h"

namespace millrace::shim {

class ExchangeCall {
 public:
  ExchangeCall(Symbol symbol, const ExchangeShape& call_shape, std::span<const Word> words)
      : shape(call_shape), arguments_(symbol, words) {}

  const ExchangeShape& shape;

  bool from_fortran() const { return arguments_.from_fortran(); }
  Word comm() const { return arguments_.comm(shape.comm); }
  int root() const { return arguments_.integer(static_cast<std::size_t>(shape.root)); }
  bool is_in_place(const ExchangeSide& side) const { return arguments_.is_in_place(side.buffer); }
  Word buffer(const ExchangeSide& side) const { return arguments_.buffer(side.buffer); }  // 0 for MPI_BOTTOM
  // Of block `index`, where the side has such.
  std::int64_t count(const ExchangeSide& side, std::size_t index) const {
    return side.blocks == ExchangeSide::Blocks::array ? arguments_.count_at(side.count, index)
                                                      : arguments_.count(side.count);
  }
  std::int64_t displacement(const ExchangeSide& side, std::size_t index) const {
    return arguments_.element(side.displacements, index, has_wide_displacements());
  }
  // Of 64 bits, else int.
  bool has_wide_displacements() const { return arguments_.has_large_counts() || shape.wide_displacements; }
  Word datatype(const ExchangeSide& side, std::size_t index) const {
    return side.own_types ? arguments_.datatype_at(side.datatype, index) : arguments_.datatype(side.datatype);
  }
  Word word(std::uint8_t position) const { return arguments_.word(position); }
  // Whether both sides were given the same word: the same array, where they have such.
  bool same_arguments(std::uint8_t ExchangeSide::*place) const {
    return arguments_.word(shape.send.*place) == arguments_.word(shape.receive.*place);
  }

 private:
  Arguments arguments_;
};

// The side that says how many bytes a block of a regular call has: of those that are significant and not MPI_IN_PLACE
// the one that all ranks have, so that a root that gives the other side another size chooses as they do.
inline const ExchangeSide& regular_side(const ExchangeCall& call, int rank) {
  const ExchangeShape& shape = call.shape;
  switch (shape.kind) {
    case ExchangeKind::gather: return rank == call.root() && call.is_in_place(shape.send) ? shape.receive : shape.send;
    case ExchangeKind::scatter:
      return rank == call.root() && call.is_in_place(shape.receive) ? shape.send : shape.receive;
    default: return call.is_in_place(shape.send) ? shape.receive : shape.send;
  }
}

}  // namespace millrace::shim
