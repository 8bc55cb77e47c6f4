// What the report has to know of a communicator: who its ranks are, and under which number its calls count. Asked of
// the host at the first call of each; an attribute tells when one ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "shim/bind/word.h"

namespace millrace::shim {

struct KnownCommunicator {
  // Of its ranks, each one's in MPI_COMM_WORLD or record::outside_world; none of an intercommunicator.
  std::vector<int> in_world;
  // record/communicators.h. Relaxed: a call beside the one that names the communicator counts under either name.
  mutable std::atomic<std::uint16_t> number;
};

// Null where it cannot be known: before MPI_Init, after MPI_Finalize, without memory. The host has accepted `comm` (a C
// handle) in a call. Thread-safe.
const KnownCommunicator* known_communicator(Word comm);

}  // namespace millrace::shim
