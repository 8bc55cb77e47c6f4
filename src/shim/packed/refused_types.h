// Messages that are the host's because of their type, its count and the entry, remembered so that the next ones go
// there at once: to find that out takes longer than to send eight bytes takes beside it.
//
// Of C entries only, by thread. Holds while no datatype of the host has ended, for handles come back for other types.
// Where the buffer is and who the peer is changes nothing: what is refused for its type is refused everywhere.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <tuple>

#include "entries.h"
#include "shim/bind/mode.h"
#include "shim/bind/word.h"
#include "shim/datatypes/datatypes.h"

namespace millrace::shim {

struct RefusedTypes {
  Symbol symbol = Symbol::count;  // of none
  std::uint64_t epoch = 0;        // of datatypes
  // As the caller gave them; a call with one datatype has it twice.
  std::array<Word, 2> datatypes{}, counts{};
};

inline thread_local constinit std::array<RefusedTypes, 16> refused_types __attribute__((tls_model("initial-exec")));

// What `words` have where `symbol` has datatypes, each behind its count. It must have one.
inline RefusedTypes types_in(Symbol symbol, std::span<const Word> words) {
  const Datatypes places = datatypes_of(symbol);
  const std::size_t first = static_cast<std::uint8_t>(places.first);
  const std::size_t second = places.second < 0 ? first : static_cast<std::uint8_t>(places.second);
  return {.symbol = symbol,
          .epoch = datatype_epoch.load(std::memory_order_acquire),
          .datatypes = {words[first], words[second]},
          .counts = {words[first - 1], words[second - 1]}};
}

inline RefusedTypes& place_of(Symbol symbol, Word datatype) {
  return refused_types[(spread(datatype) >> 60) ^ static_cast<std::size_t>(symbol) % 16];
}

// A call with these words is the host's, by what they say of datatypes alone.
inline void remember_refused_types(Symbol symbol, std::span<const Word> words) {
  if (is_fortran(symbol) || datatypes_of(symbol).first < 1) return;
  const RefusedTypes types = types_in(symbol, words);
  place_of(symbol, types.datatypes[0]) = types;
}

// The so many-th of the words of a call. (Of an array of them, compilers load pairs that were stored singly a moment
// ago, which a processor cannot forward: that took as long as all the rest.)
template <std::size_t place, class... Words>
[[gnu::always_inline]] inline Word word_at(Words... words) {
  return std::get<place>(std::tuple(words...));
}

// Of C.
template <Symbol symbol, class... Words>
[[gnu::always_inline]] inline bool has_refused_types(Words... words) {
  constexpr Datatypes places = datatypes_of(symbol);
  constexpr std::size_t first = static_cast<std::uint8_t>(places.first);
  constexpr std::size_t second = places.second < 0 ? first : static_cast<std::uint8_t>(places.second);
  if ((current_mode() & (recording | checking)) != 0) return false;
  const Word datatype = word_at<first>(words...);
  const RefusedTypes& known = place_of(symbol, datatype);
  if (known.datatypes[0] != datatype || known.symbol != symbol || known.counts[0] != word_at<first - 1>(words...) ||
      known.epoch != datatype_epoch.load(std::memory_order_acquire))  // as in find_datatype()
    return false;
  if constexpr (second == first) return true;
  return known.datatypes[1] == word_at<second>(words...) && known.counts[1] == word_at<second - 1>(words...);
}

}  // namespace millrace::shim
