// Whether threads can be made: an OpenMP runtime ends the process when it cannot have one, because of a limit on the
// user's processes (RLIMIT_NPROC), of the control group, or of memory.
#pragma once

#include <cstddef>

namespace millrace::threads {

// Keeps other processes of Millrace on this machine from making threads meanwhile: ranks of a job come here at the same
// moment, and what each of them finds free must not be promised twice.
class StartTurn {
 public:
  StartTurn();
  ~StartTurn() { end(); }
  StartTurn(const StartTurn&) = delete;
  StartTurn& operator=(const StartTurn&) = delete;
  // False: others have been at it for too long.
  bool is_ours() const { return is_ours_; }
  void end();

 private:
  int file_ = -1;
  bool is_ours_ = true;
};

// Makes this many threads that live at the same time, and ends them. `environment` is environ-style: it may give the
// runtime's threads larger stacks.
bool can_start(unsigned threads, const char* const* environment);

// The stacks of the runtime's threads as OMP_STACKSIZE and its relatives say; 0 if they say nothing.
std::size_t openmp_stack_bytes(const char* const* environment);

}  // namespace millrace::threads
