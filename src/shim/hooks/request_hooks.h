// The hooks of calls that complete requests, or ask about them (see hooks.h).
#pragma once

#include <algorithm>
#include <array>

#include "shim/bind/observed.h"
#include "shim/bind/sent_messages.h"
#include "shim/hooks/packed_hooks.h"
#include "shim/packed/requests.h"
#include "shim/packed/requests_complete.h"
#include "shim/shared/background_requests.h"
#include "shim/shared/background_tokens.h"
#include "shim/shared/persistent_start.h"

namespace millrace::shim::hook {

// One load when none is a message or collective of derived types. Also inside MPI_Finalize, where attributes' delete
// callbacks may complete what was begun before.
template <Symbol symbol, HostCallFunction function, class... Words>
Word packed_request(Words... words) {
  if (!any_tracked() || (current_mode() & checking)) return forward<symbol>(words...);
  return with_host_call<symbol>(function, words...);
}

template <Symbol symbol, HostCallFunction function, std::size_t... positions>
Word packed_request_at(const Word* words, std::index_sequence<positions...>) {
  return packed_request<symbol, function>(words[positions]...);
}
template <Symbol symbol, HostCallFunction function, std::size_t length>
Word packed_request_of(const Word* words) {
  return packed_request_at<symbol, function>(words, std::make_index_sequence<length>{});
}

// The same of a call that waits for one of several, without waiting: MPI_Testany has a flag more than MPI_Waitany.
template <Symbol symbol, HostCallFunction function, std::size_t length>
constexpr AsUsual without_waiting_of() {
  constexpr Symbol test = without_waiting(symbol);
  if constexpr (test == symbol)
    return nullptr;
  else if constexpr (function == complete_waitany)
    return packed_request_of<test, complete_testany, length + 1>;
  else
    return packed_request_of<test, function, length>;
}

template <Symbol symbol, HostCallFunction function, class... Words>
Word request(Words... words) {
  if (any_in_background() && !(current_mode() & checking)) {
    constexpr std::size_t length = sizeof...(words);
    std::array<Word, length> all{words...};
    return observed_completion(symbol, all, packed_request_of<symbol, function, length>,
                               without_waiting_of<symbol, function, length>());
  }
  return packed_request<symbol, function>(words...);
}

template <Symbol symbol, HostCallFunction function, class... Words>
Word start_as_usual(Words... words) {
  if (!any_persistent() || (current_mode() & checking)) return packed_request<symbol, function>(words...);
  constexpr std::size_t length = sizeof...(words);
  const bool several = symbol_entry(symbol) == Entry::Startall;
  std::array<Word, length> all{words...};
  return (several ? startall_persistent : start_persistent)(symbol, all, packed_request_of<symbol, function, length>);
}

template <Symbol symbol, HostCallFunction function, class... Words>
Word start(Words... words) {
  if (__builtin_expect((current_mode() & (recording | checking)) != recording || ObservedCall::any_open(), 1))
    return start_as_usual<symbol, function>(words...);
  const std::array<Word, sizeof...(words)> all{words...};
  constexpr bool is_one = sizeof...(words) == (is_fortran(symbol) ? 2 : 1);
  const auto requests = [&] {
    if constexpr (is_one)
      return request_to_start(symbol, all);
    else
      return requests_to_start(symbol, all);
  }();
  const Word result = start_as_usual<symbol, function>(words...);
  if (has_succeeded(symbol, result, all)) note_started(symbol, all, requests);
  return result;
}

template <Symbol symbol, std::size_t length>
Word request_free_of(const Word* words) {
  std::array<Word, length> all;
  std::copy_n(words, length, all.begin());
  const AsUsual usual = packed_request_of<symbol, request_free_call, length>;
  return any_in_background() ? free_in_background(symbol, all, usual) : usual(words);
}

template <Symbol symbol, class... Words>
Word request_free(Words... words) {
  if (current_mode() & checking) return packed_request<symbol, request_free_call>(words...);
  constexpr std::size_t length = sizeof...(words);
  std::array<Word, length> all{words...};
  forget_request(symbol, all);
  if (current_mode() & recording) forget_prepared_message(symbol, all);
  if (any_persistent()) return request_free_persistent(symbol, all, request_free_of<symbol, length>);
  return request_free_of<symbol, length>(all.data());
}

}  // namespace millrace::shim::hook
