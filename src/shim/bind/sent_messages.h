// Who sends how much to whom, for the report: receivers as ranks of MPI_COMM_WORLD. All is thread-safe, and called
// where something is recorded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "entries.h"
#include "shim/bind/word.h"

namespace millrace::shim {

// After MPI_Init, and before MPI_Finalize; by one thread. Before and after it nobody's rank is known.
void prepare_sent_messages(int world_ranks);
void forget_sent_messages();

// A call with these words has succeeded that sends a message of so many bytes, or prepares to.
void note_sent(Symbol symbol, std::span<const Word> words, std::uint64_t bytes) noexcept;

// What MPI_Start or MPI_Startall is about to start. Looked up before the call: a host may give another request back.
class StartedMessages {
 public:
  StartedMessages(Symbol symbol, std::span<const Word> words) noexcept;
  void succeeded() noexcept;

 private:
  Word request_at(std::size_t index) const;

  Symbol symbol_;
  std::span<const Word> words_;
  std::size_t count_;
  Word first_ = 0;            // of one request
  std::vector<Word> all_;     // of several
};

// A request that the call with these words is about to free.
void forget_prepared_message(Symbol symbol, std::span<const Word> words) noexcept;

}  // namespace millrace::shim
