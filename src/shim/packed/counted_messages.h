// Messages whose side is chosen for now and that are only counted, until something is due that both ends know by the
// count (plan/message_trials.h). They are remembered, so that counting takes less than to choose again: 5 ns, and where
// they are the host's all of the way to where that is done, 30.
//
// Of C entries with one datatype, by thread; for a peer and a communicator. Holds while no datatype of the host has
// ended and nothing was chosen anew.
#pragma once

#include "shim/packed/refused_types.h"

namespace millrace::shim {

struct CountedMessage {
  Symbol symbol = Symbol::count;                     // of none
  std::uint64_t epoch = 0;                           // of datatypes
  Word datatype = 0, count = 0, peer = 0, comm = 0;  // as the caller gave them
  std::uint64_t* number = nullptr;                   // of messages between these two so far
  std::uint64_t next = 0;                            // for this one something is due
  const std::uint64_t* version = nullptr;            // of what was chosen
  std::uint64_t chosen = 0;                          // what that was
  record::Reason reason = record::Reason::none;      // none: it is ours
};

inline thread_local constinit std::array<CountedMessage, 16> counted_messages
    __attribute__((tls_model("initial-exec")));

// Words of MPI_Send and all its like: buffer, count, datatype, peer, tag, communicator.
struct CountedPlaces {
  static constexpr std::size_t count = 1, datatype = 2, peer = 3, comm = 5, least_words = 6;
};
constexpr bool may_be_counted(Symbol symbol, std::size_t words) {
  return !is_fortran(symbol) && words >= CountedPlaces::least_words &&
         datatypes_of(symbol).first == static_cast<int>(CountedPlaces::datatype) && datatypes_of(symbol).second < 0;
}

inline CountedMessage& counted_place_of(Symbol symbol, Word datatype, Word peer) {
  return counted_messages[(spread(datatype ^ peer << 32) >> 60) ^ static_cast<std::size_t>(symbol) % 16];
}

// Whether it still is what these words say, and nothing is due.
[[gnu::always_inline]] inline bool holds(const CountedMessage& known, Symbol symbol, Word datatype, Word count,
                                         Word peer, Word comm) {
  return known.symbol == symbol && known.datatype == datatype && known.peer == peer && known.count == count &&
         known.comm == comm && known.epoch == datatype_epoch.load(std::memory_order_acquire) &&
         *known.version == known.chosen && *known.number < known.next;
}

// Whether this is one of the host's; then it is counted.
template <Symbol symbol, class... Words>
[[gnu::always_inline]] inline bool is_counted(Words... words) {
  if constexpr (may_be_counted(symbol, sizeof...(Words))) {
    if ((current_mode() & (recording | checking)) != 0) return false;
    const Word datatype = word_at<CountedPlaces::datatype>(words...), peer = word_at<CountedPlaces::peer>(words...);
    const CountedMessage& known = counted_place_of(symbol, datatype, peer);
    if (known.reason == record::Reason::none || !holds(known, symbol, datatype, word_at<CountedPlaces::count>(words...),
                                                       peer, word_at<CountedPlaces::comm>(words...)))
      return false;
    ++*known.number;
    return true;
  }
  return false;
}

}  // namespace millrace::shim
