// Calls about which everything hangs on their words alone, but for where their buffers are: so the next one with the
// same words goes at once to where that one went. It may have been the host's, for such a reason, or ours. What leads
// to a verdict takes longer than many a host takes for eight bytes, and half of what a small collective of ours takes.
//
// By symbol, length, root, op and communicator, for each thread. Whether buffers are there, or MPI_IN_PLACE, must be
// the same. Of Fortran's symbols only what is ours, by what stands where its words point. What is remembered holds
// until the ranks have decided anew by what they have measured (plan/evidence.h), and as long as no communicator has
// ended; handles of datatypes and ops among the words are predefined ones, which nobody can free. Where a communicator
// is the host's for good, or a count is 0, it holds whatever is decided, and handles may be any. Calls that are timed,
// recorded or made by the host itself go the long way.
#pragma once

#include <array>
#include <cstdint>

#include "abi.h"
#include "shim/bind/attention.h"
#include "shim/bind/forward.h"
#include "shim/call/data_address.h"
#include "shim/call/forwarded_collective.h"
#include "shim/node/communicators.h"
#include "shim/shared/measured_calls.h"
#include "shim/shared/repeat.h"
#include "shim/shared/shared_collectives.h"

namespace millrace::shim {

struct RememberedCall {
  static constexpr std::size_t most_words = 10;

  Symbol symbol = Symbol::count;  // of none
  std::array<std::uint8_t, 2> buffers{};
  std::uint8_t kinds_of_buffers = 0;
  bool is_ours = false;
  bool is_counted = true;
  bool synchronises = true;      // as far as its symbol tells
  std::uint64_t generation = 0;  // of communicators
  std::uint64_t epoch = 0;       // of decisions
  std::uint64_t serial = 0;      // of the communicator
  Communicator* communicator = nullptr;
  std::array<Word, most_words> words{};
  std::array<Word, most_words> significant{};  // 0 for buffers
  Repeat repeat{};                             // of one of ours

  static std::uint8_t kind_of_buffer(bool from_fortran, Word address) {
    return static_cast<std::uint8_t>((data_address(from_fortran, address) == 0 ? 1 : 0) |
                                     (is_in_place(from_fortran, address) ? 2 : 0));
  }
  std::uint8_t kinds_in(bool from_fortran, std::span<const Word> all) const {
    return static_cast<std::uint8_t>(kind_of_buffer(from_fortran, all[buffers[0]]) |
                                     kind_of_buffer(from_fortran, all[buffers[1]]) << 2);
  }
};

inline thread_local constinit std::array<RememberedCall, 16> remembered_calls
    __attribute__((tls_model("initial-exec")));

// Where the word stands that says how long a call is; of a barrier any.
constexpr std::size_t place_of_length(CollectiveKind kind) {
  static_assert(at::Bcast::count == 1 && at::Gather::sendcount == 1 && at::Alltoall::sendcount == 1);
  static_assert(at::Allreduce::count == 2 && at::Reduce::count == 2 && at::Reduce_scatter_block::recvcount == 2);
  if (kind == CollectiveKind::barrier) return 0;
  return is_reduction(kind) ? 2 : 1;
}

// Where calls with these words have their place, of C words or what Fortran's mean: those that take turns (of two
// lengths, roots, ops or communicators) are rarely in each other's way.
inline RememberedCall& remembered_call(Symbol symbol, CollectiveKind kind, std::span<const Word> words) {
  static_assert(std::tuple_size_v<decltype(remembered_calls)> == std::size_t{1} << 4);
  const std::size_t arguments = words.size() - (is_fortran(symbol) ? 1 : 0);
  // The communicator comes last, and a root or an op before it.
  const Word whose = words[arguments - 1] * 0xd6e8feb86659fd93 + words[arguments < 2 ? 0 : arguments - 2];
  return remembered_calls[(static_cast<Word>(symbol) + words[place_of_length(kind)] + whose) * 0x9e3779b97f4a7c15 >>
                          60];
}

// Its counts are an array: what it says is compared when a call is done once more (kept_counts.h).
inline bool has_counts_array(Symbol symbol) { return symbol_entry(symbol) == symbol_entry(Symbol::MPI_Reduce_scatter); }

// Whether Fortran's words of such a call can be read before anything is known of it: all but buffers and arrays are
// numbers and handles, all of which the host reads, too, whether they are significant or not.
inline bool is_read_in_fortran(Symbol symbol, CollectiveKind kind) {
  if (abi::fortran_handles == FortranHandles::mpi_5) return false;  // some are not INTEGER
  if (kind != CollectiveKind::exchange) return true;
  return !exchange_shape(symbol_entry(symbol))->has_arrays();
}

// What Fortran's words mean, but for those of buffers and of an array of counts; the place of the error is 0.
[[gnu::always_inline]] inline void read_fortran(Symbol symbol, CollectiveKind kind, std::span<const Word> words,
                                                Word* read) {
  static_assert(at::Gather::recvbuf == 3 && at::Alltoall::recvbuf == 3 && at::Allreduce::recvbuf == 1);
  const std::size_t second_buffer = kind == CollectiveKind::exchange ? 3 : is_reduction(kind) ? 1 : 0;
  const bool has_array = is_reduction(kind) && has_counts_array(symbol);
  const std::size_t array = has_array ? std::size_t{at::Reduce_scatter::recvcounts} : 0;
  for (std::size_t index = 0; index + 1 < words.size(); ++index) {
    const bool is_address = kind != CollectiveKind::barrier && (index == 0 || index == second_buffer || index == array);
    read[index] = is_address ? words[index] : static_cast<std::uint32_t>(fortran::to_int(words[index]));
  }
  read[words.size() - 1] = 0;
}

// A call of these words (what they mean, of Fortran's) has gone to the host, or, with a `repeat`, was ours. `buffers`:
// where their addresses stand; the same one twice if there is one only, or any other word if there is none. `counted`:
// by the evidence; if not, the verdict does not hang on what the ranks decide.
void remember_call(Symbol symbol, std::span<const Word> words, CollectiveKind kind, std::array<std::uint8_t, 2> buffers,
                   Communicator& communicator, bool counted, const Repeat* repeat);

// One that was remembered has failed, or its communicator has ended in it.
void remembered_call_ended(Word comm, std::uint64_t serial, bool counted, int error) noexcept;

// False if the call must be looked at anew.
bool repeat_call(RememberedCall& before, Word first, Word second, Word& result) noexcept;

// Whether a call of these words is to be done as that one was, as far as nothing is counted or done for it.
template <Symbol symbol, std::size_t count>
[[gnu::always_inline]] inline bool is_as_before(const RememberedCall& before, const std::array<Word, count>& words) {
  if (before.symbol != symbol) return false;
  // Word by word, each with its branch: in vectors, compilers load pairs of words that were stored singly a moment ago,
  // which a processor cannot forward, and that took a third of the time of a Scatter of eight bytes (Zen 4).
  for (std::size_t index = 0; index < count; ++index)
    if (((words[index] ^ before.words[index]) & before.significant[index]) != 0) return false;
  return before.kinds_in(is_fortran(symbol), words) == before.kinds_of_buffers &&
         before.generation == communicator_generation.load(std::memory_order_acquire) &&
         !ForwardedCollective::is_in_fortran() && (current_mode() & (recording | checking)) == 0;
}

// The same of Fortran.
template <Symbol symbol, CollectiveKind kind, std::size_t count>
[[gnu::always_inline]] inline bool done_as_before_in_fortran(const std::array<Word, count>& words, Word& result) {
  if ((current_mode() & (recording | checking)) != 0 || !is_read_in_fortran(symbol, kind)) return false;
  std::array<Word, count> read;
  read_fortran(symbol, kind, words, read.data());
  RememberedCall& before = remembered_call(symbol, kind, read);
  if (!is_as_before<symbol>(before, read)) return false;
  const auto [first, second] = before.buffers;
  if (!repeat_call(before, data_address(true, read[first]), data_address(true, read[second]), result)) return false;
  if (words.back() != 0) *static_cast<int*>(as_pointer(words.back())) = as_int(result);
  return true;
}

// True if the call is done.
template <Symbol symbol, CollectiveKind kind, std::size_t count>
[[gnu::always_inline]] inline bool done_as_before(const std::array<Word, count>& words, Word& result) {
  if constexpr (count > RememberedCall::most_words) {
    return false;
  } else if constexpr (is_fortran(symbol)) {
    return done_as_before_in_fortran<symbol, kind>(words, result);
  }
  RememberedCall& before = remembered_call(symbol, kind, words);
  if (!is_as_before<symbol>(before, words)) return false;
  if (before.is_ours) return repeat_call(before, words[before.buffers[0]], words[before.buffers[1]], result);
  if (before.is_counted && !count_as_before(*before.communicator, before.epoch, before.synchronises)) return false;
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
