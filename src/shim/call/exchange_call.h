// The collectives that move data and reduce none: MPI_Gather(v), Scatter(v), Allgather(v), Alltoall(v, w) and the
// neighbourhood collectives, blocking, nonblocking and persistent (MPI 4.1, chapters 6 and 8). One table says where
// their arguments stand, which is the same for all three; they are read only where they are significant, because
// elsewhere they may be anything.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "abi.h"
#include "entries.h"
#include "shim/bind/word.h"
#include "shim/host/fortran.h"

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

// What is sent, or what is received: where it stands among the words of a call.
struct ExchangeSide {
  enum class Blocks : std::uint8_t {
    one,    // one block: to the root, or to everybody
    each,   // one block a peer, all alike, one behind the other
    array,  // one block a peer, each with a count and a displacement of its own
  };
  Blocks blocks;
  std::uint8_t buffer;
  bool own_types = false;  // a datatype for each block, and displacements in bytes

  constexpr std::size_t place() const { return buffer; }
  constexpr std::size_t count() const { return buffer + std::size_t{1}; }
  constexpr std::size_t displacements() const { return buffer + std::size_t{2}; }
  constexpr std::size_t datatype() const {
    return buffer + (blocks == Blocks::array ? std::size_t{3} : std::size_t{2});
  }
};

struct ExchangeShape {
  ExchangeKind kind;
  ExchangeSide send, receive;
  std::uint8_t comm;
  std::uint8_t root = 0;            // 0: it has none
  bool wide_displacements = false;  // MPI_Aint also where counts are int

  // All blocks of the call have the same number of bytes, and every rank knows it.
  constexpr bool is_regular() const {
    return send.blocks != ExchangeSide::Blocks::array && receive.blocks != ExchangeSide::Blocks::array &&
           !is_neighbor();
  }
  constexpr bool is_neighbor() const {
    return kind == ExchangeKind::neighbor_allgather || kind == ExchangeKind::neighbor_alltoall;
  }
  constexpr bool is_rooted() const { return root != 0; }
};

// The shape of an entry, of its large-count twin, and of their nonblocking and persistent forms; null for any other.
const ExchangeShape* exchange_shape(Entry entry);

// One call, in whichever language it was made.
class ExchangeCall {
 public:
  ExchangeCall(Symbol symbol, const ExchangeShape& call_shape, std::span<const Word> words);

  const ExchangeShape& shape;

  bool from_fortran() const { return fortran_; }
  Word comm() const;
  int root() const;
  bool is_in_place(const ExchangeSide& side) const;
  Word buffer(const ExchangeSide& side) const;  // 0 for MPI_BOTTOM
  // Of block `index`, where the side has such.
  std::int64_t count(const ExchangeSide& side, std::size_t index) const;
  std::int64_t displacement(const ExchangeSide& side, std::size_t index) const;
  bool has_wide_displacements() const { return large_ || shape.wide_displacements; }  // of 64 bits, else int
  Word datatype(const ExchangeSide& side, std::size_t index) const;
  // Whether both sides were given the same word: the same array, where they have such.
  bool same_arguments(std::size_t (ExchangeSide::*place)() const) const {
    return words_[(shape.send.*place)()] == words_[(shape.receive.*place)()];
  }

 private:
  std::span<const Word> words_;
  bool fortran_;
  bool large_;
};

// The side that says how many bytes a block of a regular call has: of those that are significant and not MPI_IN_PLACE
// the one that all ranks have, so that a root that gives the other side another size chooses as they do.
const ExchangeSide& regular_side(const ExchangeCall& call, int rank);

}  // namespace millrace::shim
