// The processors that a thread may run on.
#pragma once

#include <vector>

namespace millrace {

// The affinity mask of the calling thread, ascending; empty if the kernel does not say. Thread-safe.
std::vector<int> allowed_processors();

}  // namespace millrace
