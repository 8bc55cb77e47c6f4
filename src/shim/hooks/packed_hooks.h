// The hooks of calls that carry data of derived types (see hooks.h).
#pragma once

#include "positions.h"
#include "shim/packed/counted_messages.h"
#include "shim/packed/exchange_begin.h"
#include "shim/packed/nonblocking.h"
#include "shim/packed/pack.h"
#include "shim/packed/point_to_point.h"
#include "shim/packed/refused_types.h"

namespace millrace::shim::hook {

template <Symbol symbol, class... Words>
Word with_host_call(HostCallFunction function, Words... words) {
  std::array<Word, sizeof...(Words)> array{words...};
  return function(HostCall(symbol, array, &pass_array<symbol, sizeof...(Words)>));
}

// Runs `function` on the call, or forwards it where there is nothing to look at.
template <Symbol symbol, class... Words>
Word looked_at(HostCallFunction function, Words... words) {
  if (!datatypes_active.load(std::memory_order_relaxed) || (current_mode() & checking))
    return forward<symbol>(words...);
  return with_host_call<symbol>(function, words...);
}

// A call with a datatype for each of its buffers: in C one test for each of them where they are predefined. Where each
// block has one, who asks must know how many there are; where one is not significant it may be anything, and is only
// compared here.
template <Symbol symbol, HostCallFunction function, class... Words>
Word message(Words... words) {
  constexpr Datatypes places = datatypes_of(symbol);
  if constexpr (!is_fortran(symbol) && places.first >= 0) {
    bool may_be_ours = may_have_layout(abi::handle(word_at<std::size_t{places.first}>(words...)));
    if constexpr (places.second >= 0)
      may_be_ours |= may_have_layout(abi::handle(word_at<std::size_t{places.second}>(words...)));
    if (__builtin_expect(!may_be_ours, 1)) return forward<symbol>(words...);
    if constexpr (places.first > 0)
      if (has_refused_types<symbol>(words...) || is_counted<symbol>(words...)) return forward<symbol>(words...);
  }
  return looked_at<symbol>(function, words...);
}

// MPI_Pack and MPI_Unpack with counts that are int: what can be done at once.
template <Symbol symbol, HostCallFunction function, class Place, class AtOnceFunction, class... Words>
Word packing(AtOnceFunction at_once, Words... words) {
  const std::array<Word, sizeof...(Words)> all{words...};
  if (__builtin_expect(!may_have_layout(abi::handle(all[Place::datatype])), 1)) return forward<symbol>(words...);
  if (current_mode() == accelerating && all[Place::position] != 0) {
    int& place = *static_cast<int*>(as_pointer(all[Place::position]));
    std::int64_t end = place;
    const AtOnce now = at_once(all, end);
    if (now == AtOnce::hosts) return forward<symbol>(words...);
    if (now == AtOnce::done) {
      place = static_cast<int>(end);
      return 0;
    }
  }
  return looked_at<symbol>(function, words...);
}

template <Symbol symbol, class... Words>
Word pack(Words... words) {
  if constexpr (is_fortran(symbol) || is_large(symbol)) return looked_at<symbol>(pack_call, words...);
  using Place = at::Pack;
  const auto at_once = [](const auto& all, std::int64_t& end) {
    return packed_at_once(all[Place::inbuf], as_int(all[Place::incount]), abi::handle(all[Place::datatype]),
                          all[Place::outbuf], as_int(all[Place::outsize]), end, abi::handle(all[Place::comm]));
  };
  return packing<symbol, pack_call, Place>(at_once, words...);
}

template <Symbol symbol, class... Words>
Word unpack(Words... words) {
  if constexpr (is_fortran(symbol) || is_large(symbol)) return looked_at<symbol>(unpack_call, words...);
  using Place = at::Unpack;
  const auto at_once = [](const auto& all, std::int64_t& end) {
    return unpacked_at_once(all[Place::inbuf], as_int(all[Place::insize]), end, all[Place::outbuf],
                            as_int(all[Place::outcount]), abi::handle(all[Place::datatype]),
                            abi::handle(all[Place::comm]));
  };
  return packing<symbol, unpack_call, Place>(at_once, words...);
}

}  // namespace millrace::shim::hook
