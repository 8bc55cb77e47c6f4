// The entries that do more than forward. The generator calls hook::NAME<Symbol>(words...) for an entry that the table
// marks with `hook NAME` or `accelerated NAME`, and hook::NAME_fortran for its Fortran symbols.
#pragma once

#include "shim/forward.h"
#include "shim/layout_hooks.h"
#include "shim/observed.h"
#include "shim/op_substitution.h"
#include "shim/reduce_local.h"
#include "shim/runtime.h"

namespace millrace::shim::hook {

inline bool succeeded_fortran(Word error) { return error == 0 || *static_cast<const int*>(as_pointer(error)) == 0; }

// The error argument of a Fortran call without strings.
template <class... Words>
Word last_word(Words... words) {
  const Word all[] = {words...};
  return all[sizeof...(words) - 1];
}

template <Symbol symbol, class... Words>
Word init(Words... words) {
  const Word result = forward<symbol>(words...);
  if (as_int(result) == 0 && !(current_mode() & checking)) world_initialised();
  return result;
}

template <Symbol symbol, class... Words>
Word init_fortran(Words... words) {
  const Word result = forward<symbol>(words...);
  if (!(current_mode() & checking) && succeeded_fortran(last_word(words...))) world_initialised();
  return result;
}

template <Symbol symbol, class... Words>
Word init_thread(Words... words) {
  return init<symbol>(words...);
}

template <Symbol symbol, class... Words>
Word init_thread_fortran(Words... words) {
  return init_fortran<symbol>(words...);
}

template <Symbol symbol, class... Words>
Word finalize(Words... words) {
  if (!(current_mode() & checking)) world_finalising();
  return forward<symbol>(words...);
}

template <Symbol symbol, class... Words>
Word finalize_fortran(Words... words) {
  return finalize<symbol>(words...);
}

template <Symbol symbol, class... Words>
Word session_init(Words... words) {
  const Word result = forward<symbol>(words...);
  if (as_int(result) == 0 && !(current_mode() & checking)) session_initialised();
  return result;
}

template <Symbol symbol, class... Words>
Word session_init_fortran(Words... words) {
  const Word result = forward<symbol>(words...);
  if (!(current_mode() & checking) && succeeded_fortran(last_word(words...))) session_initialised();
  return result;
}

template <Symbol symbol, class... Words>
Word session_finalize(Words... words) {
  if (!(current_mode() & checking)) session_finalising();
  return forward<symbol>(words...);
}

template <Symbol symbol, class... Words>
Word session_finalize_fortran(Words... words) {
  return session_finalize<symbol>(words...);
}

// Conversions of handles: Fortran bindings of recent MPICHs and Intel MPI make several for each call of the program,
// through these symbols. They are the host's, not the program's, and shorter than the time it takes to count them.
template <Symbol symbol, class... Words>
Word uncounted(Words... words) {
  return marked_for_check(symbol) ? 0 : call(next_definition<symbol>(), words...);
}

template <Symbol symbol>
Word reduce_local(Word in, Word inout, Word count, Word datatype, Word op) {
  return accelerated_reduce_local<symbol>(in, inout, count, static_cast<std::int64_t>(as_int(count)), datatype, op);
}

template <Symbol symbol>
Word reduce_local_c(Word in, Word inout, Word count, Word datatype, Word op) {
  return accelerated_reduce_local<symbol>(in, inout, count, static_cast<std::int64_t>(count), datatype, op);
}

template <Symbol symbol>
Word reduce_local_fortran(Word in, Word inout, Word count, Word datatype, Word op, Word error) {
  return accelerated_reduce_local_fortran<symbol>(in, inout, count, datatype, op, error);
}

template <Symbol symbol, class... Words>
Word reduction(Words... words) {
  return substituted_reduction<symbol>(words...);
}

template <Symbol symbol, class... Words>
Word reduction_c(Words... words) {
  return substituted_reduction<symbol>(words...);
}

template <Symbol symbol, class... Words>
Word reduction_fortran(Words... words) {
  return substituted_reduction<symbol>(words...);
}

}  // namespace millrace::shim::hook
