// What calls do on each communicator, for the report. All is thread-safe, and called where something is recorded.
#pragma once

#include <cstdint>
#include <span>

#include "entries.h"
#include "shim/bind/word.h"

namespace millrace::shim {

// After MPI_Init, and before MPI_Finalize; by one thread. Before and after it no communicator is known.
void prepare_known_communicators(int world_ranks);
void forget_known_communicators();

// A call of a symbol that has a communicator (communicator_of) has succeeded with these words.
void note_communicator_call(Symbol symbol, std::span<const Word> words, std::uint64_t bytes, std::uint64_t ticks,
                            bool is_taken) noexcept;

// MPI_Comm_set_name has returned.
void note_communicator_name(Symbol symbol, Word result, std::span<const Word> words) noexcept;

}  // namespace millrace::shim
