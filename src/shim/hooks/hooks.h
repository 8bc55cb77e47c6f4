// The entries that do more than forward. The generator calls hook::NAME<Symbol>(words...) for an entry that the table
// marks with `hook NAME` or `accelerated NAME`, and hook::NAME_fortran for its Fortran symbols.
#pragma once

#include "shim/bind/forward.h"
#include "shim/bind/observed.h"
#include "shim/bind/targets.h"
#include "shim/hooks/exchange_hooks.h"
#include "shim/hooks/layout_hooks.h"
#include "shim/process/runtime.h"
#include "shim/reduce/op_substitution.h"
#include "shim/reduce/reduce_local.h"
#include "shim/reduce/user_ops.h"
#include "shim/shared/shared_collectives.h"

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

// The four collectives that may go through shared memory.
template <Symbol symbol, class Convention, class... Words>
Word collective(CollectiveKind kind, Words... words) {
  if (__builtin_expect(shared_collectives_active.load(std::memory_order_relaxed), 1))
    return shared_collective<symbol, Convention>(kind, words...);
  const bool reduces = kind == CollectiveKind::reduce || kind == CollectiveKind::allreduce;
  if (reduces && op_substitution_active.load(std::memory_order_relaxed)) return substituted_reduction<symbol>(words...);
  return forward_as<symbol>(forwarded(why_not_shared.load(std::memory_order_relaxed)), words...);
}

template <Symbol symbol, class... Words>
Word barrier(Words... words) {
  return collective<symbol, CConvention>(CollectiveKind::barrier, words...);
}

template <Symbol symbol, class... Words>
Word barrier_fortran(Words... words) {
  return collective<symbol, FortranConvention>(CollectiveKind::barrier, words...);
}

template <Symbol symbol, class... Words>
Word bcast(Words... words) {
  return collective<symbol, CConvention>(CollectiveKind::bcast, words...);
}

template <Symbol symbol, class... Words>
Word bcast_c(Words... words) {
  return collective<symbol, LargeConvention>(CollectiveKind::bcast, words...);
}

template <Symbol symbol, class... Words>
Word bcast_fortran(Words... words) {
  return collective<symbol, FortranConvention>(CollectiveKind::bcast, words...);
}

template <Symbol symbol, class... Words>
Word reduce(Words... words) {
  return collective<symbol, CConvention>(CollectiveKind::reduce, words...);
}

template <Symbol symbol, class... Words>
Word reduce_c(Words... words) {
  return collective<symbol, LargeConvention>(CollectiveKind::reduce, words...);
}

template <Symbol symbol, class... Words>
Word reduce_fortran(Words... words) {
  return collective<symbol, FortranConvention>(CollectiveKind::reduce, words...);
}

template <Symbol symbol, class... Words>
Word allreduce(Words... words) {
  return collective<symbol, CConvention>(CollectiveKind::allreduce, words...);
}

template <Symbol symbol, class... Words>
Word allreduce_c(Words... words) {
  return collective<symbol, LargeConvention>(CollectiveKind::allreduce, words...);
}

template <Symbol symbol, class... Words>
Word allreduce_fortran(Words... words) {
  return collective<symbol, FortranConvention>(CollectiveKind::allreduce, words...);
}

// The collectives that reduce nothing, in all of their forms.
template <Symbol symbol, class... Words>
Word exchange(Words... words) {
  if (__builtin_expect(!shared_collectives_active.load(std::memory_order_relaxed), 0))
    return forward_as<symbol>(forwarded(why_not_shared.load(std::memory_order_relaxed)), words...);
  std::array<Word, sizeof...(words)> all{words...};
  return shared_exchange(symbol, next_definition<symbol>(), all);
}

template <Symbol symbol, class... Words>
Word exchange_c(Words... words) {
  return exchange<symbol>(words...);
}

template <Symbol symbol, class... Words>
Word exchange_fortran(Words... words) {
  return exchange<symbol>(words...);
}

// Constructors of communicators: the first argument is what they are called on, the last one what they make.
template <Symbol symbol, class... Words>
Word constructor(Words... words) {
  const Word result = forward<symbol>(words...);
  const std::array<Word, sizeof...(words)> all{words...};
  if (!shared_collectives_active.load(std::memory_order_relaxed)) return result;
  const bool succeeded = as_int(result) == 0;
  constructed(symbol, abi::handle(all[0]), succeeded, succeeded ? abi::handle_at(all.back()) : 0, 0);
  return result;
}

template <Symbol symbol, class... Words>
Word constructor_fortran(Words... words) {
  const Word result = forward<symbol>(words...);
  const std::array<Word, sizeof...(words)> all{words...};
  if ((current_mode() & checking) || !shared_collectives_active.load(std::memory_order_relaxed)) return result;
  const bool succeeded = succeeded_fortran(all.back());
  constructed(symbol, fortran::to_comm(all[0]), succeeded, succeeded ? fortran::to_comm(all[all.size() - 2]) : 0, 0);
  return result;
}

// MPI_Comm_create_group, which only the members of the group call.
template <Symbol symbol>
Word group_constructor(Word comm, Word group, Word tag, Word made) {
  const Word result = forward<symbol>(comm, group, tag, made);
  if (as_int(result) == 0 && shared_collectives_active.load(std::memory_order_relaxed))
    constructed(symbol, abi::handle(comm), true, abi::handle_at(made), as_int(tag));
  return result;
}

template <Symbol symbol>
Word group_constructor_fortran(Word comm, Word group, Word tag, Word made, Word error) {
  const Word result = forward<symbol>(comm, group, tag, made, error);
  if (!(current_mode() & checking) && succeeded_fortran(error) &&
      shared_collectives_active.load(std::memory_order_relaxed))
    constructed(symbol, fortran::to_comm(comm), true, fortran::to_comm(made), fortran::to_int(tag));
  return result;
}

template <Symbol symbol>
Word op_create(Word function, Word commutes, Word op) {
  const Word result = forward<symbol>(function, commutes, op);
  if (as_int(result) == 0 && !(current_mode() & checking)) remember_user_op(abi::handle_at(op), as_int(commutes) != 0);
  return result;
}

template <Symbol symbol>
Word op_create_c(Word function, Word commutes, Word op) {
  return op_create<symbol>(function, commutes, op);
}

template <Symbol symbol>
Word op_create_fortran(Word function, Word commutes, Word op, Word error) {
  const Word result = forward<symbol>(function, commutes, op, error);
  if (!(current_mode() & checking) && succeeded_fortran(error))
    remember_user_op(fortran::to_op(op), fortran::to_int(commutes) != 0);
  return result;
}

template <Symbol symbol>
Word op_create_c_fortran(Word function, Word commutes, Word op, Word error) {
  return op_create_fortran<symbol>(function, commutes, op, error);
}

template <Symbol symbol>
Word op_free(Word op) {
  if (op != 0 && !(current_mode() & checking)) forget_user_op(abi::handle_at(op));
  return forward<symbol>(op);
}

template <Symbol symbol>
Word op_free_fortran(Word op, Word error) {
  if (op != 0 && !(current_mode() & checking)) forget_user_op(fortran::to_op(op));
  return forward<symbol>(op, error);
}

// Constructors of windows: the last argument is what they make.
template <Symbol symbol, class... Words>
Word window_constructor(Words... words) {
  const Word result = forward<symbol>(words...);
  if (as_int(result) == 0 && !(current_mode() & checking)) remember_window(abi::handle_at(last_word(words...)));
  return result;
}

template <Symbol symbol, class... Words>
Word window_constructor_c(Words... words) {
  return window_constructor<symbol>(words...);
}

template <Symbol symbol, class... Words>
Word window_constructor_fortran(Words... words) {
  const Word result = forward<symbol>(words...);
  const std::array<Word, sizeof...(words)> all{words...};
  if (!(current_mode() & checking) && succeeded_fortran(all.back()))
    remember_window(fortran::to_win(all[all.size() - 2]));
  return result;
}

template <Symbol symbol, class... Words>
Word window_constructor_c_fortran(Words... words) {
  return window_constructor_fortran<symbol>(words...);
}

template <Symbol symbol>
Word window_free(Word win) {
  if (win != 0 && !(current_mode() & checking)) forget_window(abi::handle_at(win));
  return forward<symbol>(win);
}

template <Symbol symbol>
Word window_free_fortran(Word win, Word error) {
  if (win != 0 && !(current_mode() & checking)) forget_window(fortran::to_win(win));
  return forward<symbol>(win, error);
}

}  // namespace millrace::shim::hook
