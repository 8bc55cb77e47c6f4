// Who sends how much to whom, for the report: receivers as ranks of MPI_COMM_WORLD. All is thread-safe, and called
// where something is recorded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "entries.h"
#include "shim/bind/word.h"

namespace millrace::shim {

// A call with these words has succeeded that sends a message of so many bytes, or prepares to.
void note_sent(Symbol symbol, std::span<const Word> words, std::uint64_t bytes) noexcept;

// The request that MPI_Start is about to start, and whether it has. A host may give another request back.
Word request_to_start(Symbol symbol, std::span<const Word> words) noexcept;
void note_started(Symbol symbol, std::span<const Word> words, Word request) noexcept;

// The same of MPI_Startall. Empty if there is no memory for it.
std::vector<Word> requests_to_start(Symbol symbol, std::span<const Word> words) noexcept;
void note_started(Symbol symbol, std::span<const Word> words, std::span<const Word> requests) noexcept;

// A request that the call with these words is about to free.
void forget_prepared_message(Symbol symbol, std::span<const Word> words) noexcept;

}  // namespace millrace::shim
