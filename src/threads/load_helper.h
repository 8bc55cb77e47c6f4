// Finds libmillrace_threads.so next to the object that this code is linked into.
#pragma once

#include "threads/interface.h"

namespace millrace::threads {

struct Helper {
  RunFunction run = nullptr;
  DecideFunction decide = nullptr;
};

// Loads it at the first call; functions are null if it is not there. Thread-safe. A child of fork() loads nothing.
const Helper& loaded_helper();

}  // namespace millrace::threads
