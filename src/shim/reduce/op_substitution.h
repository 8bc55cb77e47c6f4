// Collective reductions done by the host with an op of ours (src/plan/op_substitution.h says when).
//
// Each rank decides alone. That is safe only where a host's choice of algorithm does not depend on whether an op is
// predefined, so that ranks with and without Millrace still understand one another: Open MPI's built-in collectives.
// MPICH and Intel MPI keep their reduce-scatter algorithms for predefined ops: there nothing is ever substituted.
#pragma once

#include <array>

#include "base/settings.h"
#include "shim/bind/forward.h"

namespace millrace::shim {

// Creates the ops if this host has any use for them. Local. After MPI_Init, by one thread.
void prepare_op_substitution(const SettingValues& settings);
void forget_op_substitution();  // before MPI_Finalize, when no reduction can be under way any more

extern std::atomic<bool> op_substitution_active;

// Decides about one call and replaces words[op] if the answer is yes.
Outcome substitute_op(Symbol symbol, std::span<Word> words);

// The name behind an algorithm of the outcome: "op_sum_f64" for kernel sum_f64.
inline constexpr std::uint16_t first_substitution_algorithm = 1024;
const char* substitution_name(std::uint16_t algorithm);

template <Symbol symbol, class... Words, std::size_t... positions>
inline Word forward_words(Outcome outcome, const std::array<Word, sizeof...(positions)>& words,
                          std::index_sequence<positions...>) {
  return forward_as<symbol>(outcome, words[positions]...);
}

template <Symbol symbol, class... Words>
inline Word substituted_reduction(Words... arguments) {
  if (__builtin_expect(!op_substitution_active.load(std::memory_order_relaxed), 1))
    return forward<symbol>(arguments...);
  std::array<Word, sizeof...(arguments)> words{arguments...};
  const Outcome outcome = substitute_op(symbol, words);
  return forward_words<symbol>(outcome, words, std::make_index_sequence<sizeof...(arguments)>{});
}

}  // namespace millrace::shim
