// The collectives that move data and reduce none: MPI_Gather(v), Scatter(v), Allgather(v), Alltoall(v, w) and the
// neighbourhood collectives, blocking, nonblocking and persistent (MPI 4.1, chapters 6 and 8), and MPI_Ibcast with
// MPI_Bcast_init. The generator writes the shapes from the table of entries.
#pragma once

#include <cstdint>

#include "entries.h"

namespace millrace::shim {

enum class ExchangeKind : std::uint8_t {
  gather,
  scatter,
  allgather,
  alltoall,
  neighbor_allgather,
  neighbor_alltoall,
  bcast,  // both sides are the same buffer; not of the blocking calls here (shared_bcast.h)
};

constexpr bool is_of_neighbors(ExchangeKind kind) {
  return kind == ExchangeKind::neighbor_allgather || kind == ExchangeKind::neighbor_alltoall;
}

// What is sent, or what is received: positions among the words of a call.
struct ExchangeSide {
  enum class Blocks : std::uint8_t {
    one,    // one block: to the root, or to everybody
    each,   // one block a peer, all alike, one behind the other
    array,  // one block a peer, each with a count and a displacement of its own
  };
  Blocks blocks;
  bool own_types;  // a datatype for each block, and displacements in bytes
  std::uint8_t buffer, count;
  std::uint8_t displacements;  // of arrays
  std::uint8_t datatype;
};

struct ExchangeShape {
  ExchangeKind kind;
  ExchangeSide send, receive;
  std::uint8_t comm;
  std::int8_t root, request;  // -1: it has none
  bool wide_displacements;    // MPI_Aint also where counts are int
  bool is_persistent;

  // Counts, displacements or datatypes of a side are arrays.
  constexpr bool has_arrays() const {
    return send.blocks == ExchangeSide::Blocks::array || receive.blocks == ExchangeSide::Blocks::array;
  }
  // All blocks of the call have the same number of bytes, and every rank knows it.
  constexpr bool is_regular() const { return !has_arrays() && !is_neighbor(); }
  constexpr bool is_neighbor() const { return is_of_neighbors(kind); }
  constexpr bool is_rooted() const { return root >= 0; }
};

// The shape of an entry, of its large-count twin, and of their nonblocking and persistent forms; null for any other.
const ExchangeShape* exchange_shape(Entry entry);

}  // namespace millrace::shim
