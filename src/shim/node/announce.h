#pragma once

#include "shim/node/communicators.h"

namespace millrace::shim {

// At MILLRACE_LOG=info, one line of its first rank about a communicator that has become `active` or the host's, or that
// ends undecided: whether its collectives are done in shared memory, and why not. Of those that programs make by the
// thousand, the first few.
void announce(const Communicator& communicator) noexcept;

}  // namespace millrace::shim
