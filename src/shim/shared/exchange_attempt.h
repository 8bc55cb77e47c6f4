// MPI_Gather and its relatives in shared memory.
//
// Whether a call is taken depends on what all ranks know to be equal: the communicator, the settings, the entry and,
// for calls whose blocks are all alike, their bytes. A rank whose own arguments are wrong leaves the call to the host,
// which reports its own error; the others, if their arguments are right, hear of it when that rank calls its next
// collective or ends. A rank that fails later (no memory) breaks the group, so that nobody waits for it.
#pragma once

#include "shim/call/exchange_call.h"
#include "shim/shared/shared_attempt.h"

namespace millrace::shim {

// Whether no rank can leave a call before all have come to it, which all ranks see alike.
bool waits_for_all(const ExchangeCall& call, int rank) noexcept;

// `kept`: ExchangeBlocks, made where there are none. `repeat`: as of attempt_collective().
Attempt attempt_exchange(Communicator& communicator, const ExchangeCall& call,
                         std::unique_ptr<KeptWithCommunicator>& kept, Repeat* repeat) noexcept;

}  // namespace millrace::shim
