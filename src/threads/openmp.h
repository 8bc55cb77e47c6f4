// The OpenMP runtime of this process: the program's own if it has one, else libgomp, loaded when it is first needed.
//
// Entered by the functions that GCC's `#pragma omp parallel` compiles to (libgomp's ABI). LLVM's and Intel's runtimes
// export them too, so a process never gets a second runtime, whose threads would spin against those of the first.
#pragma once

#include "threads/decide.h"

namespace millrace::threads {

struct OpenMpState {
  OpenMp openmp = OpenMp::none;
  bool is_in_parallel_region = false;
  unsigned threads = 0;  // omp_get_max_threads(); 0: no runtime is present
};

// Looks, and loads nothing. `environment` is environ-style. By one thread at a time.
OpenMpState look_at_openmp(const char* const* environment);

// Runs `region(data)` on each of up to `threads` threads, the caller among them, and waits for all; loads libgomp if
// no runtime is there. False if that failed; then nothing was run. By one thread at a time.
bool run_on_team(void (*region)(void*), void* data, unsigned threads);

// Inside `region`: which thread of the team this is, and how many there are.
unsigned team_member();
unsigned team_size();

}  // namespace millrace::threads
