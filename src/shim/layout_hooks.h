// The hooks of calls that carry data of derived types: what the table's `accelerated NAME` lines name (see hooks.h).
#pragma once

#include "shim/layout_pack.h"

namespace millrace::shim::hook {

// Runs `function` on the call, or forwards it where there is nothing to look at.
template <Symbol symbol, class... Words>
Word looked_at(Word (*function)(HostCall), Words... words) {
  if (!datatypes_active.load(std::memory_order_relaxed) || (current_mode() & checking))
    return forward<symbol>(words...);
  std::array<Word, sizeof...(Words)> array{words...};
  return function(HostCall(symbol, array, &pass_array<symbol, sizeof...(Words)>));
}

template <Symbol symbol>
Word pack(Word in, Word count, Word datatype, Word out, Word out_size, Word position, Word comm) {
  if (__builtin_expect(!may_have_layout(abi::handle(datatype)), 1))
    return forward<symbol>(in, count, datatype, out, out_size, position, comm);
  if (current_mode() == accelerating && position != 0) {
    int& place = *static_cast<int*>(as_pointer(position));
    std::int64_t end = place;
    if (packed_at_once(in, as_int(count), abi::handle(datatype), out, as_int(out_size), end, abi::handle(comm))) {
      place = static_cast<int>(end);
      return 0;
    }
  }
  return looked_at<symbol>(pack_call, in, count, datatype, out, out_size, position, comm);
}

template <Symbol symbol>
Word unpack(Word in, Word in_size, Word position, Word out, Word count, Word datatype, Word comm) {
  if (__builtin_expect(!may_have_layout(abi::handle(datatype)), 1))
    return forward<symbol>(in, in_size, position, out, count, datatype, comm);
  if (current_mode() == accelerating && position != 0) {
    int& place = *static_cast<int*>(as_pointer(position));
    std::int64_t end = place;
    if (unpacked_at_once(in, as_int(in_size), end, out, as_int(count), abi::handle(datatype), abi::handle(comm))) {
      place = static_cast<int>(end);
      return 0;
    }
  }
  return looked_at<symbol>(unpack_call, in, in_size, position, out, count, datatype, comm);
}

template <Symbol symbol, class... Words>
Word pack_c(Words... words) {
  return looked_at<symbol>(pack_call, words...);
}
template <Symbol symbol, class... Words>
Word pack_fortran(Words... words) {
  return looked_at<symbol>(pack_call, words...);
}
template <Symbol symbol, class... Words>
Word unpack_c(Words... words) {
  return looked_at<symbol>(unpack_call, words...);
}
template <Symbol symbol, class... Words>
Word unpack_fortran(Words... words) {
  return looked_at<symbol>(unpack_call, words...);
}

}  // namespace millrace::shim::hook
