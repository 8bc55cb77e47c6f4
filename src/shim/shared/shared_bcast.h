// MPI_Bcast in shared memory, of any datatype: ranks may describe the same bytes by different ones.
#pragma once

#include "shim/shared/shared_attempt.h"

namespace millrace::shim {

// `repeat`: as of attempt_collective().
Attempt attempt_bcast(Communicator& communicator, const CollectiveCall& call, Repeat* repeat) noexcept;

}  // namespace millrace::shim
