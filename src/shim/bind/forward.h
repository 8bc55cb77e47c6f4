// The way of every call that is passed on: the generated wrappers consist of forward<Symbol>(words...).
#pragma once

#include <atomic>

#include "entries.h"
#include "record/record.h"
#include "shim/bind/attention.h"
#include "shim/bind/late_answers.h"
#include "shim/bind/mode.h"
#include "shim/bind/targets.h"
#include "shim/bind/word.h"

namespace millrace::shim {

// The next definition of each symbol, found at its first call. Relaxed: the address is the whole message, the code
// behind it was published by the dynamic linker before any thread could ask for it.
extern std::atomic<void*> next_definitions[static_cast<std::size_t>(Symbol::count)];

// Finds, stores and returns the next definition; a function that logs and returns MPI_ERR_INTERN if there is none.
void* resolve(Symbol symbol);

template <Symbol symbol>
inline void* next_definition() {
  void* next = next_definitions[static_cast<std::size_t>(symbol)].load(std::memory_order_relaxed);
  return __builtin_expect(next != nullptr, 1) ? next : resolve(symbol);
}

template <class... Words>
inline Word call(void* function, Words... words) {
  return reinterpret_cast<Word (*)(Words...)>(function)(words...);
}

// The host's own function (PMPI_) behind one of our symbols, for the shim's use of MPI: neither we nor a profiling
// tool should see those calls.
extern std::atomic<void*> host_functions[static_cast<std::size_t>(Symbol::count)];
void* resolve_host_function(Symbol symbol);

template <Symbol symbol>
inline void* host_function() {
  void* const function = host_functions[static_cast<std::size_t>(symbol)].load(std::memory_order_relaxed);
  return function ? function : resolve_host_function(symbol);
}

template <Symbol symbol, class... Arguments>
inline Word host_word(Arguments... arguments) {
  return call(host_function<symbol>(), static_cast<Word>(arguments)...);
}

template <Symbol symbol, class... Arguments>
inline int host(Arguments... arguments) {
  return as_int(host_word<symbol>(arguments...));
}

// What became of a call: taken by an algorithm, or handed to the host for a reason.
struct Outcome {
  std::uint16_t algorithm;
  record::Reason reason;
};
inline constexpr Outcome taken(std::uint16_t algorithm) { return {algorithm, record::Reason::none}; }
inline constexpr Outcome forwarded(record::Reason reason) { return {record::no_algorithm, reason}; }

// Outlined, one instance per number of arguments (observed.cpp), so that 1500 wrappers stay small.
template <class... Words>
Word observed_forward(Symbol symbol, void* next, Outcome outcome, Words... words);
double observed_forward_double(Symbol symbol, void* next);

template <Symbol symbol, class... Words>
[[gnu::always_inline]] inline Word pass(Outcome outcome, Words... words) {
  void* next = next_definition<symbol>();
  if (__builtin_expect((current_mode() & (recording | checking)) != 0, 0))
    return observed_forward(symbol, next, outcome, words...);
  return call(next, words...);
}

// Before a call that is passed on: rings those that sleep and may be needed. Whom it needs, for InsideHost.
template <Symbol symbol, class... Words>
[[gnu::always_inline]] inline std::uint32_t announce(Words... words) {
  if constexpr (peers_of(symbol) != Peers::none) {
    if (!somebody_sleeps()) return shared_memory::Attention::anybody;
    if constexpr (target_of(symbol).through != Through::nobody) {
      const Word all[] = {words...};
      return ring_target(symbol, all);
    }
    ring_for_host();
  }
  return shared_memory::Attention::anybody;
}

template <Symbol symbol, class... Words>
[[gnu::always_inline]] inline Word pass_announced(Outcome outcome, Words... words) {
  [[maybe_unused]] const std::uint32_t whom = announce<symbol>(words...);
  if constexpr (peers_of(symbol) == Peers::connecting) announce_strangers();
  if constexpr (peers_of(symbol) == Peers::blocking || peers_of(symbol) == Peers::connecting) {
    const InsideHost inside(whom);
    return pass<symbol>(outcome, words...);
  } else {
    return pass<symbol>(outcome, words...);
  }
}

template <Symbol symbol, class... Words>
[[gnu::always_inline]] inline Word pass_inside(Outcome outcome, Words... words) {
  if constexpr (gives(symbol)) {
    const Word result = pass_announced<symbol>(outcome, words...);
    count_given();
    return result;
  } else {
    return pass_announced<symbol>(outcome, words...);
  }
}

// Passes a call on, recorded with `outcome` if anything is recorded.
template <Symbol symbol, class... Words>
inline Word forward_as(Outcome outcome, Words... words) {
  if constexpr (target_of(symbol).made >= 0) {
    const Word result = pass_inside<symbol>(outcome, words...);
    const Word all[] = {words...};
    if ((current_mode() & checking) == 0) remember_request(symbol, result, all);
    return result;
  } else if constexpr (answer_of(symbol) >= 0) {
    const Word result = pass_inside<symbol>(outcome, words...);
    if (!met_outside_host.load(std::memory_order_relaxed)) return result;
    const Word all[] = {words...};
    std::uint32_t given = 0;
    if (!host_has_looked(symbol, result, all, given)) return result;
    const Word second = call(next_definition<symbol>(), words...);
    note_answer(symbol, second, all, given);
    return second;
  } else {
    return pass_inside<symbol>(outcome, words...);
  }
}

template <Symbol symbol, class... Words>
inline Word forward(Words... words) {
  return forward_as<symbol>(forwarded(record::Reason::not_accelerated), words...);
}

template <Symbol symbol>
inline double forward_double() {
  void* next = next_definition<symbol>();
  if (__builtin_expect((current_mode() & (recording | checking)) != 0, 0)) return observed_forward_double(symbol, next);
  return reinterpret_cast<double (*)()>(next)();
}

}  // namespace millrace::shim
