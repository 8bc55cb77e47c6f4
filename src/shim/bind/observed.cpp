#include "shim/bind/observed.h"

#include <array>
#include <utility>

#include "shim/bind/forward.h"
#include "shim/bind/sent_messages.h"

namespace millrace::shim {
namespace {

unsigned char* seen_entries = nullptr;
std::size_t seen_length = 0;

}  // namespace

thread_local int ObservedCall::depth = 0;

void begin_check(unsigned char* seen, std::size_t length) {
  seen_entries = seen;
  seen_length = length;
  set_mode(checking);
}

bool marked_for_check(Symbol symbol) {
  if (!(current_mode() & checking)) return false;
  const auto entry = static_cast<std::size_t>(symbol_entry(symbol));
  if (entry < seen_length) seen_entries[entry] = 1;
  return true;
}

template <class... Words>
Word observed_forward(Symbol symbol, void* next, Outcome outcome, Words... words) {
  if (marked_for_check(symbol)) return 0;
  ObservedCall observed(symbol);
  const Word result = call(next, words...);
  if (observed.outermost()) {
    observed.stop();
    const Word copies[] = {words..., 0};  // never empty
    const std::span<const Word> all(copies, sizeof...(words));
    const bool succeeded = is_fortran(symbol) ? has_posted_from_fortran(symbol, all) : as_int(result) == 0;
    const std::uint64_t bytes = succeeded ? posted_bytes(symbol, all) : 0;
    if (succeeded)
      observed.add(bytes, outcome.algorithm, outcome.reason, all);
    else
      observed.add(bytes, outcome.algorithm, outcome.reason);
    if (sends(symbol) && succeeded) note_sent(symbol, all, bytes);
    if (symbol_entry(symbol) == Entry::Comm_set_name) note_communicator_name(symbol, result, all);
  }
  return result;
}

double observed_forward_double(Symbol symbol, void* next) {
  if (marked_for_check(symbol)) return 0;
  ObservedCall observed(symbol);
  const double result = reinterpret_cast<double (*)()>(next)();
  observed.stop();
  observed.add(0, record::no_algorithm, record::Reason::not_accelerated);
  return result;
}

namespace {

// One instance for each number of arguments that an entry has, hidden string lengths of Fortran included.
constexpr std::size_t most_arguments = 24;

template <std::size_t>
using WordAt = Word;

template <std::size_t... positions>
void* instance(std::index_sequence<positions...>) {
  return reinterpret_cast<void*>(&observed_forward<WordAt<positions>...>);
}

template <std::size_t... counts>
std::array<void*, sizeof...(counts)> instances(std::index_sequence<counts...>) {
  return {instance(std::make_index_sequence<counts>{})...};
}

[[gnu::used]] const auto emitted = instances(std::make_index_sequence<most_arguments + 1>{});

}  // namespace
}  // namespace millrace::shim
