// The hooks of nonblocking and persistent collectives that reduce nothing (see hooks.h), by where their datatypes
// stand.
#pragma once

#include "shim/hooks/layout_hooks.h"
#include "shim/packed/exchange_begin.h"

namespace millrace::shim::hook {

template <Symbol symbol, class... Words>
Word begin_bcast(Words... words) {
  return messages<symbol, 2>(begin_exchange, words...);
}
template <Symbol symbol, class... Words>
Word begin_bcast_c(Words... words) {
  return messages<symbol, 2>(begin_exchange, words...);
}
template <Symbol symbol, class... Words>
Word begin_bcast_fortran(Words... words) {
  return looked_at<symbol>(begin_exchange, words...);
}

// Blocks that are all alike, on both sides. Where a datatype is not significant it may be anything, and is only
// compared here.
template <Symbol symbol, class... Words>
Word begin_equal(Words... words) {
  return messages<symbol, 2, 5>(begin_exchange, words...);
}
template <Symbol symbol, class... Words>
Word begin_equal_c(Words... words) {
  return messages<symbol, 2, 5>(begin_exchange, words...);
}
template <Symbol symbol, class... Words>
Word begin_equal_fortran(Words... words) {
  return looked_at<symbol>(begin_exchange, words...);
}

template <Symbol symbol, class... Words>
Word begin_gather_v(Words... words) {
  return messages<symbol, 2, 6>(begin_exchange, words...);
}
template <Symbol symbol, class... Words>
Word begin_gather_v_c(Words... words) {
  return messages<symbol, 2, 6>(begin_exchange, words...);
}
template <Symbol symbol, class... Words>
Word begin_gather_v_fortran(Words... words) {
  return looked_at<symbol>(begin_exchange, words...);
}

template <Symbol symbol, class... Words>
Word begin_scatter_v(Words... words) {
  return messages<symbol, 3, 6>(begin_exchange, words...);
}
template <Symbol symbol, class... Words>
Word begin_scatter_v_c(Words... words) {
  return messages<symbol, 3, 6>(begin_exchange, words...);
}
template <Symbol symbol, class... Words>
Word begin_scatter_v_fortran(Words... words) {
  return looked_at<symbol>(begin_exchange, words...);
}

template <Symbol symbol, class... Words>
Word begin_alltoall_v(Words... words) {
  return messages<symbol, 3, 7>(begin_exchange, words...);
}
template <Symbol symbol, class... Words>
Word begin_alltoall_v_c(Words... words) {
  return messages<symbol, 3, 7>(begin_exchange, words...);
}
template <Symbol symbol, class... Words>
Word begin_alltoall_v_fortran(Words... words) {
  return looked_at<symbol>(begin_exchange, words...);
}

// A datatype for each block: who asks whether all are predefined must know how many there are.
template <Symbol symbol, class... Words>
Word begin_alltoall_w(Words... words) {
  return looked_at<symbol>(begin_exchange, words...);
}
template <Symbol symbol, class... Words>
Word begin_alltoall_w_c(Words... words) {
  return looked_at<symbol>(begin_exchange, words...);
}
template <Symbol symbol, class... Words>
Word begin_alltoall_w_fortran(Words... words) {
  return looked_at<symbol>(begin_exchange, words...);
}

}  // namespace millrace::shim::hook
