// How many threads a large reduction gets: a pure function of facts, so that tests can invent them.
#pragma once

#include "threads/interface.h"

namespace millrace::threads {

enum class OpenMp {
  none,        // no runtime in the process, and none was found to load
  loadable,    // none in the process; libgomp can be loaded
  would_bind,  // none in the process, and the environment tells a new one to bind threads
  foreign,     // two runtimes, or one without the entries that we use
  present,     // the program has one, or we have loaded libgomp before
};

struct Facts {
  OpenMp openmp = OpenMp::none;
  bool is_in_parallel_region = false;  // the calling thread, by the runtime that is present
  unsigned openmp_threads = 0;         // the most that the runtime would use here (OMP_NUM_THREADS); 0: not known
  unsigned cores = 0;                  // that the affinity mask of the calling thread touches; 0: not known
  double quota_cpus = 0;               // of the control groups; 0: no limit
  int local_ranks = 0;                 // of this job on this node, with this one; 0: not known
  int sharing_ranks = 0;               // of them, those whose affinity masks overlap, with this one; 0: not known
  int busy_threads = -1;               // others of this process that run or want to; -1: not known
  int idle_processors = -1;            // of the machine: nobody runs there; -1: not known
};

// One thread in every case of doubt. A number of threads asked for by hand overrules what is known about cores, quota,
// ranks and load, and nothing else.
TeamDecision decide(const Request& request, const Facts& facts);

}  // namespace millrace::threads
