// Gathers what decide() wants to know about this process, this node and this moment.
#pragma once

#include <vector>

#include "threads/decide.h"

namespace millrace::threads {

// What does not change with the load is kept as long as the affinity mask is the same; the load is looked at anew every
// few milliseconds. By one thread at a time.
Facts gather_facts(const Request& request);

// The OpenMP threads that have helped before: they may still spin when the next reduction comes. Called inside a
// region.
void remember_worker(unsigned member);
std::vector<int> known_workers(unsigned team);  // ids of those that would be in a team of this size

}  // namespace millrace::threads
