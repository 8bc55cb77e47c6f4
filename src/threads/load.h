// Who else is running right now. Linux says so without privileges; a look costs microseconds, which a caller makes good
// by not looking more often than every few milliseconds.
#pragma once

#include <string>
#include <vector>

namespace millrace::threads {

struct Load {
  int busy_threads = -1;     // of this process, without the calling thread and without `workers`; -1: not known
  int busy_workers = 0;      // of `workers`: those that still spin after their last work
  int idle_processors = -1;  // of the machine: nobody runs there, counting those of busy_workers as idle; -1: not known
};

// `caller` is the calling thread's id, `workers` those of our own OpenMP threads, `online` the processors of the
// machine; `root` stands before /proc. A process with more than 64 threads counts as busy with all of them.
Load read_load(int caller, const std::vector<int>& workers, int online, const std::string& root = {});

}  // namespace millrace::threads
