#include "shim/shared/remembered_calls.h"

#include <algorithm>

#include "shim/bind/late_answers.h"

namespace millrace::shim {
namespace {

// Of those that are remembered; a rank may leave all others before the rest have come.
bool may_synchronise(Entry entry) {
  switch (entry) {
    case Entry::Bcast:
    case Entry::Reduce:
    case Entry::Reduce_scatter:  // its blocks may be of nothing
    case Entry::Scan:
    case Entry::Exscan:
    case Entry::Neighbor_allgather:
    case Entry::Neighbor_allgatherv:
    case Entry::Neighbor_alltoall:
    case Entry::Neighbor_alltoallv:
    case Entry::Neighbor_alltoallw:
    case Entry::Gather:
    case Entry::Scatter: return false;
    default: return true;
  }
}

}  // namespace

void remember_call(Symbol symbol, std::span<const Word> words, CollectiveKind kind, std::array<std::uint8_t, 2> buffers,
                   Communicator& communicator, bool counted, const Repeat* repeat) {
  if (words.size() > RememberedCall::most_words) return;
  std::array<Word, RememberedCall::most_words> read;
  if (is_fortran(symbol)) {
    if (!repeat || !is_read_in_fortran(symbol, kind)) return;
    read_fortran(symbol, kind, words, read.data());
    words = std::span(read).first(words.size());
  }
  RememberedCall& remembered = remembered_call(symbol, kind, words);
  remembered.symbol = symbol;
  remembered.buffers = buffers;
  remembered.is_ours = repeat != nullptr;
  remembered.is_counted = counted;
  remembered.synchronises = may_synchronise(symbol_entry(symbol));
  remembered.generation = communicator_generation.load(std::memory_order_acquire);
  remembered.epoch = epoch_of_decisions(communicator);
  remembered.serial = communicator.serial;
  remembered.communicator = &communicator;
  if (repeat) remembered.repeat = *repeat;
  std::copy(words.begin(), words.end(), remembered.words.begin());
  remembered.significant.fill(~Word{0});
  if (buffers[0] != buffers[1] || symbol_entry(symbol) == symbol_entry(Symbol::MPI_Bcast))
    for (const std::uint8_t buffer : buffers) remembered.significant[buffer] = 0;
  remembered.kinds_of_buffers = remembered.kinds_in(is_fortran(symbol), words);
}

void remembered_call_ended(Word comm, std::uint64_t serial, bool counted, int error) noexcept {
  Communicator* const communicator = find_communicator(comm);
  if (!communicator || communicator->serial != serial) return;
  if (counted) note_counted(*communicator);
  host_call_ended(*communicator, error, false);
}

bool repeat_call(RememberedCall& before, Word first, Word second, Word& result) noexcept {
  Communicator& communicator = *before.communicator;
  const Repeat& repeat = before.repeat;
  if (!repeat.fits(repeat, first, second)) return false;
  const Symbol symbol = before.symbol;  // an error handler may make calls that are remembered in this place
  const bool is_as_before = count_as_before(communicator, before.epoch, before.synchronises);
  if (!is_as_before) {
    const Whose whose = whose_call(communicator, repeat.asked);
    if (whose.reason != record::Reason::none) {
      keep_answer(communicator, whose.reason);
      return false;
    }
    if (whose.result != collective::Result::ok) {
      result = as_word(end_taken_call(communicator, symbol, done(whose.result)));
      return true;
    }
    before.epoch = epoch_of_decisions(communicator);
  }
  const Attempt attempt = repeat.run(repeat, first, second);
  if (attempt.is_good() && is_as_before) [[likely]] {
    ++communicator.calls;
    note_meeting();
    result = 0;
    return true;
  }
  if (is_as_before) note_counted(communicator);
  result = as_word(end_taken_call(communicator, symbol, attempt));
  return true;
}

}  // namespace millrace::shim
