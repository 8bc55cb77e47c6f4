// The entries that do more than forward: for an entry that the table marks with `hook NAME FUNCTION` the generator
// calls hook::NAME<Symbol, FUNCTION>(words...) in every wrapper: of the entry, of its large-count twin and of its
// Fortran symbols. What differs between these is known when it is compiled (arguments.h).
#pragma once

#include "positions.h"
#include "shim/bind/forward.h"
#include "shim/bind/observed.h"
#include "shim/bind/targets.h"
#include "shim/call/arguments.h"
#include "shim/hooks/packed_hooks.h"
#include "shim/hooks/request_hooks.h"
#include "shim/process/endings.h"
#include "shim/process/runtime.h"
#include "shim/process/tools.h"
#include "shim/reduce/op_substitution.h"
#include "shim/reduce/reduce_local.h"
#include "shim/reduce/user_ops.h"
#include "shim/shared/background_calls.h"
#include "shim/shared/persistent_call.h"
#include "shim/shared/remembered_calls.h"
#include "shim/shared/shared_collectives.h"

namespace millrace::shim::hook {

// Whether a call that has returned made what it was to make; not where nothing was called.
template <Symbol symbol, class... Words>
bool has_made(Word result, Words... words) {
  const std::array<Word, sizeof...(words) + 1> all{words..., 0};  // never empty
  return !(current_mode() & checking) && has_succeeded(symbol, result, std::span(all).first(sizeof...(words)));
}

template <Symbol symbol, class... Words>
Word init(Words... words) {
  if (!(current_mode() & checking)) find_tools_below();
  if (current_mode() & recording) prepare_to_watch_endings();
  const Word result = forward<symbol>(words...);
  if (has_made<symbol>(result, words...)) world_initialised();
  return result;
}

template <Symbol symbol, class... Words>
Word finalize(Words... words) {
  if (!(current_mode() & checking)) world_finalising();
  return forward<symbol>(words...);
}

template <Symbol symbol, class... Words>
Word abort(Words... words) {
  if (!(current_mode() & checking)) aborting();
  return forward<symbol>(words...);
}

template <Symbol symbol, class... Words>
Word session_init(Words... words) {
  if (!(current_mode() & checking)) find_tools_below();
  const Word result = forward<symbol>(words...);
  if (has_made<symbol>(result, words...)) session_initialised();
  return result;
}

template <Symbol symbol, class... Words>
Word session_finalize(Words... words) {
  if (!(current_mode() & checking)) session_finalising();
  return forward<symbol>(words...);
}

// Conversions of handles: Fortran bindings of recent MPICHs and Intel MPI make several for each call of the program,
// through these symbols. They are the host's, not the program's, and shorter than the time it takes to count them.
template <Symbol symbol, class... Words>
Word uncounted(Words... words) {
  return marked_for_check(symbol) ? 0 : call(next_definition<symbol>(), words...);
}

template <Symbol symbol, class... Words>
Word reduce_local(Words... words) {
  return accelerated_reduce_local<symbol>(words...);
}

template <Symbol symbol, class... Words>
Word reduction(Words... words) {
  return substituted_reduction<symbol>(words...);
}

// The collectives that reduce, MPI_Barrier and MPI_Bcast, which may go through shared memory.
template <Symbol symbol, CollectiveCall (*read)(const Arguments&), class... Words>
Word collective(Words... words) {
  if (__builtin_expect(shared_collectives_active.load(std::memory_order_relaxed), 1)) {
    std::array<Word, sizeof...(words)> all{words...};
    constexpr CollectiveKind kind = read == read_barrier ? CollectiveKind::barrier
                                    : read == read_bcast ? CollectiveKind::bcast
                                                         : CollectiveKind::reduce;  // or another that reduces
    if (Word result = 0; done_as_before<symbol, kind>(all, result)) return result;
    return shared_collective(symbol, next_definition<symbol>(), all, read(Arguments(symbol, all)));
  }
  if constexpr (read != read_barrier && read != read_bcast)
    if (op_substitution_active.load(std::memory_order_relaxed)) return substituted_reduction<symbol>(words...);
  return forward_as<symbol>(forwarded(why_not_shared.load(std::memory_order_relaxed)), words...);
}

// The collectives that reduce nothing.
template <Symbol symbol, class... Words>
Word exchange(Words... words) {
  if (__builtin_expect(!shared_collectives_active.load(std::memory_order_relaxed), 0))
    return forward_as<symbol>(forwarded(why_not_shared.load(std::memory_order_relaxed)), words...);
  std::array<Word, sizeof...(words)> all{words...};
  if (Word result = 0; done_as_before<symbol, CollectiveKind::exchange>(all, result)) return result;
  return shared_exchange(symbol, next_definition<symbol>(), all);
}

inline CollectiveCall read_exchange(const ExchangeCall& exchange) {
  return {.kind = CollectiveKind::exchange,
          .from_fortran = exchange.from_fortran(),
          .comm = exchange.comm(),
          .exchange = &exchange};
}

// Nonblocking collectives: in shared memory, or by `host`, which does the call as if there were no others. `anew`:
// begins one that cannot be begun as an earlier one was.
template <Symbol symbol, CollectiveKind kind, class Host, class Anew, class... Words>
[[gnu::always_inline]] inline Word begun(const Host& host, const Anew& anew, Words... words) {
  if (__builtin_expect(!shared_collectives_active.load(std::memory_order_relaxed), 0)) return host();
  if (host_begins<symbol>(words...)) return host();
  const std::array<Word, sizeof...(words)> all{words...};
  Word result = 0;
  const Begun how = is_fortran(symbol) ? Begun::anew : begin_as_before(symbol, kind, all, result);
  if (how == Begun::ours) return result;
  return how == Begun::hosts ? host() : anew(all);
}

template <Symbol symbol, class... Words>
Word begun_barrier(Words... words) {
  const auto host = [&] { return forward<symbol>(words...); };
  const auto anew = [&](const auto& all) {
    return begun_in_background<symbol>(all, read_ibarrier(Arguments(symbol, all)), host);
  };
  return begun<symbol, CollectiveKind::barrier>(host, anew, words...);
}

template <Symbol symbol, CollectiveCall (*read)(const Arguments&), class... Words>
Word begun_reduction(Words... words) {
  const auto host = [&] { return substituted_reduction<symbol>(words...); };
  const auto anew = [&](const auto& all) {
    return begun_in_background<symbol>(all, read(Arguments(symbol, all)), host);
  };
  return begun<symbol, CollectiveKind::allreduce>(host, anew, words...);
}

template <Symbol symbol, HostCallFunction function, class... Words>
Word begun_bcast(Words... words) {
  const auto host = [&] { return message<symbol, function>(words...); };
  const auto anew = [&](const auto& all) {
    return begun_in_background<symbol>(all, read_ibcast(Arguments(symbol, all)), host);
  };
  return begun<symbol, CollectiveKind::bcast>(host, anew, words...);
}

template <Symbol symbol, HostCallFunction function, class... Words>
Word begun_exchange(Words... words) {
  const auto host = [&] { return message<symbol, function>(words...); };
  const auto anew = [&](const auto& all) {
    const ExchangeCall exchange(symbol, *exchange_shape(symbol_entry(symbol)), all);
    return begun_in_background<symbol>(all, read_exchange(exchange), host);
  };
  return begun<symbol, CollectiveKind::exchange>(host, anew, words...);
}

// Persistent collectives: the host prepares each, and it may be done in shared memory when it is started.
template <Symbol symbol, CollectiveCall (*read)(const Arguments&), class... Words>
Word prepared_barrier(Words... words) {
  if (__builtin_expect(!shared_collectives_active.load(std::memory_order_relaxed), 0)) return forward<symbol>(words...);
  const std::array<Word, sizeof...(words)> all{words...};
  return prepared_in_background<symbol>(all, read(Arguments(symbol, all)), [&] { return forward<symbol>(words...); });
}

template <Symbol symbol, CollectiveCall (*read)(const Arguments&), class... Words>
Word prepared_reduction(Words... words) {
  if (__builtin_expect(!shared_collectives_active.load(std::memory_order_relaxed), 0))
    return substituted_reduction<symbol>(words...);
  const std::array<Word, sizeof...(words)> all{words...};
  return prepared_in_background<symbol>(all, read(Arguments(symbol, all)),
                                        [&] { return substituted_reduction<symbol>(words...); });
}

template <Symbol symbol, HostCallFunction function, class... Words>
Word prepared_bcast(Words... words) {
  if (__builtin_expect(!shared_collectives_active.load(std::memory_order_relaxed), 0))
    return message<symbol, function>(words...);
  const std::array<Word, sizeof...(words)> all{words...};
  return prepared_in_background<symbol>(all, read_bcast_init(Arguments(symbol, all)),
                                        [&] { return message<symbol, function>(words...); });
}

template <Symbol symbol, HostCallFunction function, class... Words>
Word prepared_exchange(Words... words) {
  if (__builtin_expect(!shared_collectives_active.load(std::memory_order_relaxed), 0))
    return message<symbol, function>(words...);
  const std::array<Word, sizeof...(words)> all{words...};
  const ExchangeCall exchange(symbol, *exchange_shape(symbol_entry(symbol)), all);
  return prepared_in_background<symbol>(all, read_exchange(exchange),
                                        [&] { return message<symbol, function>(words...); });
}

// Constructors of communicators: the first argument is what they are called on, the last one what they make.
template <Symbol symbol, class... Words>
Word constructor(Words... words) {
  const Word result = forward<symbol>(words...);
  if ((current_mode() & checking) || !shared_collectives_active.load(std::memory_order_relaxed)) return result;
  const std::array<Word, sizeof...(words)> all{words...};
  constexpr std::size_t made = sizeof...(words) - (is_fortran(symbol) ? 2 : 1);
  const Arguments arguments(symbol, all);
  const bool succeeded = has_succeeded(symbol, result, all);
  constructed(symbol, arguments.comm(0), succeeded, succeeded ? arguments.comm_at(made) : 0, 0);
  return result;
}

// MPI_Comm_create_group, which only the members of the group call.
template <Symbol symbol, class... Words>
Word group_constructor(Words... words) {
  using Place = at::Comm_create_group;
  const Word result = forward<symbol>(words...);
  if (!shared_collectives_active.load(std::memory_order_relaxed) || !has_made<symbol>(result, words...)) return result;
  const std::array<Word, sizeof...(words)> all{words...};
  const Arguments arguments(symbol, all);
  constructed(symbol, arguments.comm(Place::comm), true, arguments.comm_at(Place::newcomm),
              arguments.integer(Place::tag));
  return result;
}

template <Symbol symbol, class... Words>
Word op_create(Words... words) {
  using Place = at::Op_create;
  const Word result = forward<symbol>(words...);
  if (!has_made<symbol>(result, words...)) return result;
  const std::array<Word, sizeof...(words)> all{words...};
  const Arguments arguments(symbol, all);
  remember_user_op(arguments.op_at(Place::op), arguments.integer(Place::commute) != 0);
  return result;
}

template <Symbol symbol, class... Words>
Word op_free(Words... words) {
  using Place = at::Op_free;
  const std::array<Word, sizeof...(words)> all{words...};
  if (all[Place::op] != 0 && !(current_mode() & checking)) forget_user_op(Arguments(symbol, all).op_at(Place::op));
  return forward<symbol>(words...);
}

// Constructors of windows: the last argument is what they make.
template <Symbol symbol, class... Words>
Word window_constructor(Words... words) {
  const Word result = forward<symbol>(words...);
  if (!has_made<symbol>(result, words...)) return result;
  const std::array<Word, sizeof...(words)> all{words...};
  constexpr std::size_t made = sizeof...(words) - (is_fortran(symbol) ? 2 : 1);
  remember_window(Arguments(symbol, all).win_at(made));
  return result;
}

template <Symbol symbol, class... Words>
Word window_free(Words... words) {
  using Place = at::Win_free;
  const std::array<Word, sizeof...(words)> all{words...};
  if (all[Place::win] != 0 && !(current_mode() & checking)) forget_window(Arguments(symbol, all).win_at(Place::win));
  return forward<symbol>(words...);
}

}  // namespace millrace::shim::hook
