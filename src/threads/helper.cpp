// libmillrace_threads.so: decides, and runs the parts on the threads of an OpenMP runtime.
#include <atomic>
#include <cerrno>
#include <csignal>

#include "threads/elsewhere.h"
#include "threads/facts.h"
#include "threads/float_mode.h"
#include "threads/openmp.h"

namespace millrace::threads {
namespace {

// Whoever is inside; everything behind it is for one thread at a time.
std::atomic_flag is_taken = ATOMIC_FLAG_INIT;
constexpr const char* taken_text = "another thread of this process is reducing with threads";

struct Taken {
  const bool is_ours = !is_taken.test_and_set(std::memory_order_acquire);
  const int error = errno;
  ~Taken() {
    if (is_ours) is_taken.clear(std::memory_order_release);
    errno = error;
  }
};

struct Work {
  Part part;
  void* context;
  unsigned parts;
  FloatMode mode;
  sigset_t caller_signals;
};

void region(void* data) {
  const Work& work = *static_cast<const Work*>(data);
  const unsigned member = team_member(), size = team_size();
  const FloatMode own = float_mode();
  if (member == 0) {
    pthread_sigmask(SIG_SETMASK, &work.caller_signals, nullptr);
  } else {
    remember_worker(member);
    set_float_mode(work.mode);
  }
  // The runtime may give fewer threads than parts.
  for (unsigned index = member; index < work.parts; index += size) work.part(work.context, index, work.parts);
  if (member != 0) set_float_mode(own);
}

// New threads inherit the mask of blocked signals: those that the program waits for must not end up in ours. What a
// faulty address raises stays open.
sigset_t signals_of_others() {
  sigset_t set;
  sigfillset(&set);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&set, own);
  return set;
}

Decision decide_now(const Request& request) {
  if (request.threads == 1 || request.is_forked) return decide(request, {});
  return decide(request, gather_facts(request));
}

Decision run(const Request& request, Part part, void* context) {
  const Taken taken;
  if (!taken.is_ours) return {1, taken_text};
  Decision decision = decide_now(request);
  if (decision.threads <= 1) return decision;
  Work work{part, context, decision.threads, float_mode(), {}};
  const Elsewhere elsewhere(known_workers(decision.threads));
  const sigset_t blocked = signals_of_others();
  pthread_sigmask(SIG_BLOCK, &blocked, &work.caller_signals);
  const bool has_run = run_on_team(region, &work, decision.threads);
  pthread_sigmask(SIG_SETMASK, &work.caller_signals, nullptr);
  return has_run ? decision : decide(request, {});
}

Decision decide_only(const Request& request) {
  const Taken taken;
  return taken.is_ours ? decide_now(request) : Decision{1, taken_text};
}

}  // namespace
}  // namespace millrace::threads

using millrace::threads::Decision;

extern "C" __attribute__((visibility("default"))) Decision millrace_threads_run(
    const millrace::threads::Request* request, millrace::threads::Part part, void* context) {
  try {
    return millrace::threads::run(*request, part, context);
  } catch (...) {  // memory: nothing has been run, for the region itself allocates nothing
    return {1, "out of memory"};
  }
}

extern "C" __attribute__((visibility("default"))) Decision millrace_threads_decide(
    const millrace::threads::Request* request) {
  try {
    return millrace::threads::decide_only(*request);
  } catch (...) {
    return {1, "out of memory"};
  }
}
