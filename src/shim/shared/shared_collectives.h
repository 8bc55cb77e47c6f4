// MPI_Barrier, MPI_Bcast, MPI_Reduce, MPI_Allreduce and the collectives of exchange_call.h (MPI 4.1, chapters 6 and 8)
// through shared memory, where all ranks of the communicator are on one node and have agreed on it (node_agreement.h).
// Everything else goes to the host.
//
// Whether a call is taken depends on what all ranks know to be equal: the communicator, the settings, the bytes, the
// root, and the op with its type. What may differ between ranks (addresses, the datatypes of MPI_Bcast) decides
// nothing.
#pragma once

#include <array>
#include <atomic>

#include "abi.h"
#include "base/settings.h"
#include "shim/bind/forward.h"
#include "shim/call/data_address.h"
#include "shim/host/fortran.h"

namespace millrace::shim {

// After MPI_Init, by one thread; before MPI_Finalize.
void prepare_shared_collectives(const SettingValues& settings, int world_rank);
void forget_shared_collectives() noexcept;

extern std::atomic<bool> shared_collectives_active;
// Why calls are the host's while it is not set.
extern std::atomic<record::Reason> why_not_shared;

class ExchangeCall;  // exchange_call.h

enum class CollectiveKind : std::uint8_t { barrier, bcast, reduce, allreduce, exchange };

// A call in C terms, whatever language it was made in.
struct CollectiveCall {
  CollectiveKind kind;
  bool from_fortran;
  Word in;   // send buffer, or 0
  Word out;  // receive buffer, or the buffer of MPI_Bcast
  bool in_place;
  std::int64_t count;
  Word datatype;
  Word op;
  int root;
  Word comm;
  const ExchangeCall* exchange = nullptr;  // has everything else of a call of that kind
};

// Does the call, by us or by `next`, which takes `words`.
Word shared_collective(Symbol symbol, void* next, std::span<Word> words, const CollectiveCall& call);

// The same for a call of exchange_call.h.
Word shared_exchange(Symbol symbol, void* next, std::span<Word> words);

// A constructor has made a communicator of `parent` (MPI_COMM_NULL for a rank that is not in it), or has failed. `tag`:
// of MPI_Comm_create_group.
void constructed(Symbol symbol, Word parent, bool succeeded, Word made, int tag) noexcept;

// The name behind an algorithm of the outcome.
inline constexpr std::uint16_t first_shared_algorithm = 1536;
const char* shared_algorithm_name(std::uint16_t algorithm);

// ---- from the words of each entry ----

// How an entry passes its arguments.
struct CConvention {
  static constexpr bool from_fortran = false;
  static std::int64_t count(Word word) { return as_int(word); }
  static int integer(Word word) { return as_int(word); }
  static Word datatype(Word word) { return abi::handle(word); }
  static Word op(Word word) { return abi::handle(word); }
  static Word comm(Word word) { return abi::handle(word); }
};
struct LargeConvention : CConvention {
  static std::int64_t count(Word word) { return static_cast<std::int64_t>(word); }
};
struct FortranConvention {
  static constexpr bool from_fortran = true;
  static std::int64_t count(Word word) { return fortran::to_int(word); }
  static int integer(Word word) { return fortran::to_int(word); }
  static Word datatype(Word word) { return fortran::to_datatype(word); }
  static Word op(Word word) { return fortran::to_op(word); }
  static Word comm(Word word) { return fortran::to_comm(word); }
};

template <class Convention>
CollectiveCall collective_call(CollectiveKind kind, std::span<const Word> words) {
  constexpr bool from_fortran = Convention::from_fortran;
  CollectiveCall call{};
  call.kind = kind;
  call.from_fortran = from_fortran;
  switch (kind) {
    case CollectiveKind::barrier: call.comm = Convention::comm(words[0]); break;
    case CollectiveKind::bcast:
      call.out = data_address(from_fortran, words[0]);
      call.count = Convention::count(words[1]);
      call.datatype = Convention::datatype(words[2]);
      call.root = Convention::integer(words[3]);
      call.comm = Convention::comm(words[4]);
      break;
    case CollectiveKind::reduce:
    case CollectiveKind::allreduce:
      call.in_place = is_in_place(from_fortran, words[0]);
      call.in = data_address(from_fortran, words[0]);
      call.out = data_address(from_fortran, words[1]);
      call.count = Convention::count(words[2]);
      call.datatype = Convention::datatype(words[3]);
      call.op = Convention::op(words[4]);
      if (kind == CollectiveKind::reduce) call.root = Convention::integer(words[5]);
      call.comm = Convention::comm(words[kind == CollectiveKind::reduce ? 6 : 5]);
      break;
    case CollectiveKind::exchange: break;  // exchange_call.h reads those
  }
  return call;
}

template <Symbol symbol, class Convention, class... Words>
inline Word shared_collective(CollectiveKind kind, Words... arguments) {
  std::array<Word, sizeof...(arguments)> words{arguments...};
  return shared_collective(symbol, next_definition<symbol>(), words, collective_call<Convention>(kind, words));
}

}  // namespace millrace::shim
