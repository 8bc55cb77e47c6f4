// MPI_Bcast in shared memory, of any datatype: ranks may describe the same bytes by different ones.
#pragma once

#include "shim/shared/shared_attempt.h"

namespace millrace::shim {

Attempt attempt_bcast(Communicator& communicator, const CollectiveCall& call) noexcept;

}  // namespace millrace::shim
