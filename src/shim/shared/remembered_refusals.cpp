#include "shim/shared/remembered_refusals.h"

#include <algorithm>

namespace millrace::shim {

void remember_refusal(Symbol symbol, std::span<const Word> words, std::array<std::uint8_t, 2> buffers,
                      Communicator& communicator, bool counted) {
  if (is_fortran(symbol) || words.size() > RememberedRefusal::most_words) return;
  RememberedRefusal& refusal = remembered_refusal(symbol);
  refusal = {.symbol = symbol,
             .buffers = buffers,
             .is_counted = counted,
             .generation = communicator_generation.load(std::memory_order_acquire),
             .epoch = epoch_of_decisions(communicator),
             .serial = communicator.serial,
             .communicator = &communicator};
  std::copy(words.begin(), words.end(), refusal.words.begin());
  refusal.significant.fill(~Word{0});
  if (buffers[0] != buffers[1] || symbol_entry(symbol) == symbol_entry(Symbol::MPI_Bcast))
    for (const std::uint8_t buffer : buffers) refusal.significant[buffer] = 0;
  refusal.kinds_of_buffers = refusal.kinds_in(words);
}

void remembered_call_ended(Word comm, std::uint64_t serial, bool counted, int error) noexcept {
  Communicator* const communicator = find_communicator(comm);
  if (!communicator || communicator->serial != serial) return;
  if (counted) note_counted(*communicator);
  host_call_ended(*communicator, error, false);
}

}  // namespace millrace::shim
