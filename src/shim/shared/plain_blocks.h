// Where the blocks of a call lie that goes by collective::exchange_blocks(), if they are plain data in rows that do not
// meet: most are, and to look no further takes half the time.
#pragma once

#include <cstddef>

#include "shim/call/exchange_shape.h"
#include "shim/shared/exchange_blocks.h"

namespace millrace::shim {

// What of it lies in the counts and datatypes.
struct PlainBlocks {
  ExchangeKind kind;  // gather, scatter, allgather or alltoall
  bool in_place;      // on this rank
  std::size_t rank, ranks, root;
  std::size_t sent_bytes = 0, received_bytes = 0;  // of a block

  bool is_rooted() const { return kind == ExchangeKind::gather || kind == ExchangeKind::scatter; }
  bool is_root() const { return is_rooted() && rank == root; }
  // Whether this rank has such blocks at all: else what the call says of that side means nothing.
  bool sends() const { return kind == ExchangeKind::scatter ? is_root() : !in_place; }
  bool receives() const {
    if (kind == ExchangeKind::scatter) return !in_place;
    return kind != ExchangeKind::gather || is_root();
  }

  // Lists blocks whose first ones are at these addresses, 0 for MPI_BOTTOM. False: they meet, or the processor cannot
  // touch them, or there is no memory for the lists.
  bool list(Word from, Word to, ExchangeBlocks& lists) const noexcept;

 private:
  bool list_rooted(Word from, Word to, ExchangeBlocks& lists) const;
  bool list_all(Word from, Word to, ExchangeBlocks& lists) const;
};

}  // namespace millrace::shim
