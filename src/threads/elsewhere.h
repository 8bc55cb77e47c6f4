// Keeps OpenMP's threads off the caller's processor while a reduction runs.
//
// Linux likes to wake a thread where the waker runs. libgomp's caller does not go to sleep: it works, then spins until
// the others have arrived. So a thread woken behind it waits for the end of a time slice, milliseconds, beside an idle
// processor (seen with Linux 6.18 on two processors: 2 to 6 ms for a reduction of 0.1 ms).
#pragma once

#include <sched.h>

#include <vector>

namespace millrace::threads {

class Elsewhere {
 public:
  // From here on `threads` (ids, of this process; others are left alone) run where they may and the caller is not.
  explicit Elsewhere(const std::vector<int>& threads);
  // And from here on where they might before.
  ~Elsewhere();
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;

 private:
  struct Moved {
    int thread;
    cpu_set_t before;  // up to 1024 processors; beyond, nobody is moved
  };
  std::vector<Moved> moved_;
};

}  // namespace millrace::threads
