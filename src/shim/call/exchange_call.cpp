#include "shim/call/exchange_call.h"

#include "shim/bind/forward.h"
#include "shim/call/data_address.h"

namespace millrace::shim {
namespace {

using Blocks = ExchangeSide::Blocks;

constexpr ExchangeShape gather{ExchangeKind::gather, {Blocks::one, 0}, {Blocks::each, 3}, 7, 6};
constexpr ExchangeShape gatherv{ExchangeKind::gather, {Blocks::one, 0}, {Blocks::array, 3}, 8, 7};
constexpr ExchangeShape scatter{ExchangeKind::scatter, {Blocks::each, 0}, {Blocks::one, 3}, 7, 6};
constexpr ExchangeShape scatterv{ExchangeKind::scatter, {Blocks::array, 0}, {Blocks::one, 4}, 8, 7};
constexpr ExchangeShape allgather{ExchangeKind::allgather, {Blocks::one, 0}, {Blocks::each, 3}, 6};
constexpr ExchangeShape allgatherv{ExchangeKind::allgather, {Blocks::one, 0}, {Blocks::array, 3}, 7};
constexpr ExchangeShape alltoall{ExchangeKind::alltoall, {Blocks::each, 0}, {Blocks::each, 3}, 6};
constexpr ExchangeShape alltoallv{ExchangeKind::alltoall, {Blocks::array, 0}, {Blocks::array, 4}, 8};
constexpr ExchangeShape alltoallw{ExchangeKind::alltoall, {Blocks::array, 0, true}, {Blocks::array, 4, true}, 8};
constexpr ExchangeShape neighbor_allgather{ExchangeKind::neighbor_allgather, {Blocks::one, 0}, {Blocks::each, 3}, 6};
constexpr ExchangeShape neighbor_allgatherv{ExchangeKind::neighbor_allgather, {Blocks::one, 0}, {Blocks::array, 3}, 7};
constexpr ExchangeShape neighbor_alltoall{ExchangeKind::neighbor_alltoall, {Blocks::each, 0}, {Blocks::each, 3}, 6};
constexpr ExchangeShape neighbor_alltoallv{ExchangeKind::neighbor_alltoall, {Blocks::array, 0}, {Blocks::array, 4}, 8};
constexpr ExchangeShape neighbor_alltoallw{
    ExchangeKind::neighbor_alltoall, {Blocks::array, 0, true}, {Blocks::array, 4, true}, 8, 0, true};
constexpr ExchangeShape bcast{ExchangeKind::bcast, {Blocks::one, 0}, {Blocks::one, 0}, 4, 3};

}  // namespace

const ExchangeShape* exchange_shape(Entry entry) {
  switch (entry) {
    case Entry::Gather:
    case Entry::Gather_c:
    case Entry::Igather:
    case Entry::Igather_c:
    case Entry::Gather_init:
    case Entry::Gather_init_c: return &gather;
    case Entry::Gatherv:
    case Entry::Gatherv_c:
    case Entry::Igatherv:
    case Entry::Igatherv_c:
    case Entry::Gatherv_init:
    case Entry::Gatherv_init_c: return &gatherv;
    case Entry::Scatter:
    case Entry::Scatter_c:
    case Entry::Iscatter:
    case Entry::Iscatter_c:
    case Entry::Scatter_init:
    case Entry::Scatter_init_c: return &scatter;
    case Entry::Scatterv:
    case Entry::Scatterv_c:
    case Entry::Iscatterv:
    case Entry::Iscatterv_c:
    case Entry::Scatterv_init:
    case Entry::Scatterv_init_c: return &scatterv;
    case Entry::Allgather:
    case Entry::Allgather_c:
    case Entry::Iallgather:
    case Entry::Iallgather_c:
    case Entry::Allgather_init:
    case Entry::Allgather_init_c: return &allgather;
    case Entry::Allgatherv:
    case Entry::Allgatherv_c:
    case Entry::Iallgatherv:
    case Entry::Iallgatherv_c:
    case Entry::Allgatherv_init:
    case Entry::Allgatherv_init_c: return &allgatherv;
    case Entry::Alltoall:
    case Entry::Alltoall_c:
    case Entry::Ialltoall:
    case Entry::Ialltoall_c:
    case Entry::Alltoall_init:
    case Entry::Alltoall_init_c: return &alltoall;
    case Entry::Alltoallv:
    case Entry::Alltoallv_c:
    case Entry::Ialltoallv:
    case Entry::Ialltoallv_c:
    case Entry::Alltoallv_init:
    case Entry::Alltoallv_init_c: return &alltoallv;
    case Entry::Alltoallw:
    case Entry::Alltoallw_c:
    case Entry::Ialltoallw:
    case Entry::Ialltoallw_c:
    case Entry::Alltoallw_init:
    case Entry::Alltoallw_init_c: return &alltoallw;
    case Entry::Neighbor_allgather:
    case Entry::Neighbor_allgather_c:
    case Entry::Ineighbor_allgather:
    case Entry::Ineighbor_allgather_c:
    case Entry::Neighbor_allgather_init:
    case Entry::Neighbor_allgather_init_c: return &neighbor_allgather;
    case Entry::Neighbor_allgatherv:
    case Entry::Neighbor_allgatherv_c:
    case Entry::Ineighbor_allgatherv:
    case Entry::Ineighbor_allgatherv_c:
    case Entry::Neighbor_allgatherv_init:
    case Entry::Neighbor_allgatherv_init_c: return &neighbor_allgatherv;
    case Entry::Neighbor_alltoall:
    case Entry::Neighbor_alltoall_c:
    case Entry::Ineighbor_alltoall:
    case Entry::Ineighbor_alltoall_c:
    case Entry::Neighbor_alltoall_init:
    case Entry::Neighbor_alltoall_init_c: return &neighbor_alltoall;
    case Entry::Neighbor_alltoallv:
    case Entry::Neighbor_alltoallv_c:
    case Entry::Ineighbor_alltoallv:
    case Entry::Ineighbor_alltoallv_c:
    case Entry::Neighbor_alltoallv_init:
    case Entry::Neighbor_alltoallv_init_c: return &neighbor_alltoallv;
    case Entry::Neighbor_alltoallw:
    case Entry::Neighbor_alltoallw_c:
    case Entry::Ineighbor_alltoallw:
    case Entry::Ineighbor_alltoallw_c:
    case Entry::Neighbor_alltoallw_init:
    case Entry::Neighbor_alltoallw_init_c: return &neighbor_alltoallw;
    case Entry::Ibcast:
    case Entry::Ibcast_c:
    case Entry::Bcast_init:
    case Entry::Bcast_init_c: return &bcast;
    default: return nullptr;
  }
}

ExchangeCall::ExchangeCall(Symbol symbol, const ExchangeShape& call_shape, std::span<const Word> words)
    : shape(call_shape), words_(words), fortran_(is_fortran(symbol)), large_(bytes_rule(symbol_entry(symbol)).large) {}

Word ExchangeCall::comm() const {
  const Word word = words_[shape.comm];
  return fortran_ ? fortran::to_comm(word) : abi::handle(word);
}

int ExchangeCall::root() const {
  const Word word = words_[shape.root];
  return fortran_ ? fortran::to_int(word) : as_int(word);
}

bool ExchangeCall::is_in_place(const ExchangeSide& side) const {
  return shim::is_in_place(fortran_, words_[side.buffer]);
}

Word ExchangeCall::buffer(const ExchangeSide& side) const { return data_address(fortran_, words_[side.buffer]); }

std::int64_t ExchangeCall::count(const ExchangeSide& side, std::size_t index) const {
  const Word word = words_[side.count()];
  if (side.blocks == Blocks::array) {
    const void* const array = as_pointer(word);
    return large_ ? static_cast<const std::int64_t*>(array)[index] : static_cast<const int*>(array)[index];
  }
  if (large_) return fortran_ ? *static_cast<const std::int64_t*>(as_pointer(word)) : static_cast<std::int64_t>(word);
  return fortran_ ? fortran::to_int(word) : as_int(word);
}

std::int64_t ExchangeCall::displacement(const ExchangeSide& side, std::size_t index) const {
  const void* const array = as_pointer(words_[side.displacements()]);
  return has_wide_displacements() ? static_cast<const std::int64_t*>(array)[index]
                                  : static_cast<const int*>(array)[index];
}

Word ExchangeCall::datatype(const ExchangeSide& side, std::size_t index) const {
  const Word word = words_[side.datatype()];
  if (!side.own_types) return fortran_ ? fortran::to_datatype(word) : abi::handle(word);
  if (fortran_) return fortran::to_datatype(word + sizeof(int) * static_cast<Word>(index));
  return abi::handle_at(word + sizeof(abi::HandleStorage) * static_cast<Word>(index));
}

const ExchangeSide& regular_side(const ExchangeCall& call, int rank) {
  const ExchangeShape& shape = call.shape;
  switch (shape.kind) {
    case ExchangeKind::gather: return rank == call.root() && call.is_in_place(shape.send) ? shape.receive : shape.send;
    case ExchangeKind::scatter:
      return rank == call.root() && call.is_in_place(shape.receive) ? shape.send : shape.receive;
    default: return call.is_in_place(shape.send) ? shape.receive : shape.send;
  }
}

}  // namespace millrace::shim
