#pragma once

#include "plan/tuning.h"

namespace millrace::shim {

// The tuning table of this process, read when it is first asked for: after the program has initialised MPI.
// Thread-safe.
const plan::Tuning& tuning();

}  // namespace millrace::shim
