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
  bool operator==(const RefusedTypes&) const = default;
};

inline thread_local constinit std::array<RefusedTypes, 16> refused_types __attribute__((tls_model("initial-exec")));

// What `words` have where `symbol` has datatypes, each behind its count. It must have one.
inline RefusedTypes types_in(Symbol symbol, std::span<const Word> words) {
  const Datatypes places = datatypes_of(symbol);
  const std::size_t first = static_cast<std::uint8_t>(places.first);
  const std::size_t second = places.second < 0 ? first : static_cast<std::uint8_t>(places.second);
  return {.symbol = symbol,
          .epoch = datatype_epoch.load(std::memory_order_acquire),  // as in find_datatype()
          .datatypes = {words[first], words[second]},
          .counts = {words[first - 1], words[second - 1]}};
}

inline RefusedTypes& place_of(const RefusedTypes& types) {
  return refused_types[(spread(types.datatypes[0]) >> 60) ^ static_cast<std::size_t>(types.symbol) % 16];
}

// A call with these words is the host's, by what they say of datatypes alone.
inline void remember_refused_types(Symbol symbol, std::span<const Word> words) {
  if (is_fortran(symbol) || datatypes_of(symbol).first < 1) return;
  const RefusedTypes types = types_in(symbol, words);
  place_of(types) = types;
}

inline bool has_refused_types(Symbol symbol, std::span<const Word> words) {
  if ((current_mode() & (recording | checking)) != 0) return false;
  const RefusedTypes types = types_in(symbol, words);
  return place_of(types) == types;
}

}  // namespace millrace::shim
