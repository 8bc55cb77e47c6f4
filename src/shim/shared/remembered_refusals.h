// Calls that went to the host for a reason that lies in their words alone, so that the next one with the same words
// goes there at once: what leads to such a verdict takes longer than many a host takes for eight bytes.
//
// Of C entries only, one for each entry and thread. What may be different and count for nothing is where buffers are;
// whether they are there, or MPI_IN_PLACE, must be the same. A verdict holds until the ranks have decided anew by what
// they have measured (plan/evidence.h), and as long as no communicator has ended; handles of datatypes and ops among
// the words are predefined ones, which nobody can free. Where a communicator is the host's for good, or a count is 0,
// it holds whatever is decided, and handles may be any.
#pragma once

#include <array>
#include <cstdint>

#include "abi.h"
#include "shim/bind/attention.h"
#include "shim/bind/forward.h"
#include "shim/call/forwarded_collective.h"
#include "shim/node/communicators.h"
#include "shim/shared/measured_calls.h"

namespace millrace::shim {

struct RememberedRefusal {
  static constexpr std::size_t most_words = 10;

  Symbol symbol = Symbol::count;  // of none
  std::array<std::uint8_t, 2> buffers{};
  std::uint8_t kinds_of_buffers = 0;
  bool is_counted = true;
  std::uint64_t generation = 0;  // of communicators
  std::uint64_t epoch = 0;       // of decisions
  std::uint64_t serial = 0;      // of the communicator
  Communicator* communicator = nullptr;
  std::array<Word, most_words> words{};
  std::array<Word, most_words> significant{};  // 0 for buffers

  static std::uint8_t kind_of_buffer(Word address) {
    return static_cast<std::uint8_t>((address == 0 ? 1 : 0) | (address == abi::in_place ? 2 : 0));
  }
  std::uint8_t kinds_in(std::span<const Word> all) const {
    return static_cast<std::uint8_t>(kind_of_buffer(all[buffers[0]]) | kind_of_buffer(all[buffers[1]]) << 2);
  }
};

inline thread_local constinit std::array<RememberedRefusal, 16> remembered_refusals
    __attribute__((tls_model("initial-exec")));

inline RememberedRefusal& remembered_refusal(Symbol symbol) {
  return remembered_refusals[static_cast<std::size_t>(symbol) % remembered_refusals.size()];
}

// A call of these words was refused. `buffers`: where their addresses stand; the same one twice if there is one only,
// or any other word if there is none.
// `counted`: by the evidence; if not, the verdict does not hang on what the ranks decide.
void remember_refusal(Symbol symbol, std::span<const Word> words, std::array<std::uint8_t, 2> buffers,
                      Communicator& communicator, bool counted);

// One that was remembered has failed, or its communicator has ended in it.
void remembered_call_ended(Word comm, std::uint64_t serial, bool counted, int error) noexcept;

// True if the host has done the call.
template <Symbol symbol, std::size_t count>
[[gnu::always_inline]] inline bool refused_as_before(const std::array<Word, count>& words, Word& result) {
  if constexpr (is_fortran(symbol) || count > RememberedRefusal::most_words) return false;
  const RememberedRefusal& before = remembered_refusal(symbol);
  if (before.symbol != symbol) return false;
  // Word by word, each with its branch: in vectors, compilers load pairs of words that were stored singly a moment ago,
  // which a processor cannot forward, and that took a third of the time of a Scatter of eight bytes (Zen 4).
  for (std::size_t index = 0; index < count; ++index)
    if (((words[index] ^ before.words[index]) & before.significant[index]) != 0) return false;
  if (before.kinds_in(words) != before.kinds_of_buffers ||
      before.generation != communicator_generation.load(std::memory_order_acquire) ||
      ForwardedCollective::is_in_fortran() || (current_mode() & (recording | checking)) != 0 ||
      (before.is_counted && !count_as_before(*before.communicator, before.epoch)))
    return false;
  const Word comm = before.communicator->handle;
  const std::uint64_t generation = before.generation, serial = before.serial;
  const bool counted = before.is_counted;
  Communicator* const communicator = before.communicator;
  announce_traffic();
  {
    const InsideHost inside;
    result = std::apply([](auto... all) { return call(next_definition<symbol>(), all...); }, words);
  }
  if (as_int(result) == 0 && communicator_generation.load(std::memory_order_acquire) == generation) [[likely]]
    ++communicator->calls;
  else
    remembered_call_ended(comm, serial, counted, as_int(result));
  return true;
}

}  // namespace millrace::shim
