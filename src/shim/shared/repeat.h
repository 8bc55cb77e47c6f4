// How a call that was ours is done once more, with buffers elsewhere: what of it hangs on its words alone is known by
// then, and need not be found out again. Of data that lie as they are to be sent, by handles that nobody can free.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collective/known_call.h"
#include "shim/shared/measured_calls.h"
#include "shim/shared/plain_blocks.h"
#include "shim/shared/shared_attempt.h"

namespace millrace::shim {

struct Repeat {
  // Whether buffers at these addresses (of the two of a call; those of MPI_IN_PLACE and MPI_BOTTOM are as they were)
  // can be taken as those were. Nothing is done yet that another rank sees.
  bool (*fits)(const Repeat& repeat, Word first, Word second) noexcept = nullptr;
  // Does it, after fits(). Null: nothing is known.
  Attempt (*run)(const Repeat& repeat, Word first, Word second) noexcept = nullptr;

  // Longer ones take so long that nothing is gained.
  static constexpr std::size_t most_bytes = 64 << 10;

  Asked asked{};  // whose it is
  collective::Group* group = nullptr;
  collective::KnownCall known{};
  std::uint32_t root = 0;
  std::size_t bytes = 0;  // of MPI_Bcast, of a block, or of what a rank contributes

  // Of reductions.
  collective::Reducer reducer{};
  std::size_t elements = 0;   // that a rank contributes
  std::size_t out_bytes = 0;  // of the result
  bool in_place = false, receives = false;
  CountsArray counts{};             // of MPI_Reduce_scatter: the program's
  std::uint64_t counts_number = 0;  // what they were: of `lists`

  // Of what only moves data.
  PlainBlocks blocks{};
  ExchangeBlocks* lists = nullptr;
};

}  // namespace millrace::shim
