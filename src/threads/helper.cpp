// libmillrace_threads.so: decides, and runs the parts on the threads of an OpenMP runtime.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <optional>
#include <vector>

#include "threads/elsewhere.h"
#include "threads/facts.h"
#include "threads/float_mode.h"
#include "threads/openmp.h"
#include "threads/start.h"

namespace millrace::threads {
namespace {

// Whoever is inside; everything behind it is for one thread at a time.
std::atomic_flag is_taken = ATOMIC_FLAG_INIT;
constexpr const char* taken_text = "another thread of this process is reducing with threads";
constexpr const char* no_threads_text = "no more threads can be made (limits of processes, or of memory)";
constexpr const char* not_our_turn_text = "other processes are making threads";

struct Taken {
  const bool is_ours = !is_taken.test_and_set(std::memory_order_acquire);
  const int error = errno;
  ~Taken() {
    if (is_ours) is_taken.clear(std::memory_order_release);
    errno = error;
  }
};

struct TeamWork {
  Part part;
  void* context;
  unsigned parts;
  FloatMode mode;
  sigset_t caller_signals;
  StartTurn* turn;  // null: the threads were there
};

// Of the last team: the runtime keeps it for its caller.
int last_caller = 0;
unsigned last_size = 0;

// If not, the runtime has to make threads. A program with OpenMP may have made it smaller meanwhile.
bool has_team(unsigned threads) {
  if (last_caller != gettid() || threads > last_size) return false;
  const std::vector<int> workers = known_workers(threads);
  for (const int worker : workers)
    if (tgkill(getpid(), worker, 0) != 0) return false;
  return workers.size() + 1 == threads;
}

void region(void* data) {
  const TeamWork& work = *static_cast<const TeamWork*>(data);
  const unsigned member = team_member(), size = team_size();
  const FloatMode own = float_mode();
  if (member == 0) {
    if (work.turn) work.turn->end();
    last_size = size;
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

// With the mask that the runtime's threads will have. More than are needed: processes without Millrace start threads,
// too.
bool can_start_now(unsigned threads) {
  constexpr unsigned reserve = 4;
  const sigset_t blocked = signals_of_others();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const bool can = can_start(threads + reserve, environ);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return can;
}

TeamDecision decide_now(const Request& request) {
  if (request.threads == 1 || request.is_forked) return decide(request, {});
  return decide(request, gather_facts(request));
}

TeamDecision run(const Request& request, Part part, void* context) {
  const Taken taken;
  if (!taken.is_ours) return {1, taken_text};
  TeamDecision decision = decide_now(request);
  if (decision.threads <= 1) return decision;
  TeamWork work{part, context, decision.threads, float_mode(), {}, nullptr};
  std::optional<StartTurn> turn;
  if (!has_team(decision.threads)) {
    turn.emplace();
    if (!turn->is_ours()) return {1, not_our_turn_text};
    if (!can_start_now(decision.threads - 1)) return {1, no_threads_text};
    work.turn = &*turn;
  }
  last_caller = gettid();
  const Elsewhere elsewhere(known_workers(decision.threads));
  const sigset_t blocked = signals_of_others();
  pthread_sigmask(SIG_BLOCK, &blocked, &work.caller_signals);
  const bool has_run = run_on_team(region, &work, decision.threads);
  pthread_sigmask(SIG_SETMASK, &work.caller_signals, nullptr);
  return has_run ? decision : decide(request, {});
}

TeamDecision decide_only(const Request& request) {
  const Taken taken;
  if (!taken.is_ours) return {1, taken_text};
  const TeamDecision decision = decide_now(request);
  if (decision.threads <= 1 || has_team(decision.threads) || can_start_now(decision.threads - 1)) return decision;
  return {1, no_threads_text};
}

}  // namespace
}  // namespace millrace::threads

using millrace::threads::TeamDecision;

extern "C" __attribute__((visibility("default"))) TeamDecision millrace_threads_run(
    const millrace::threads::Request* request, millrace::threads::Part part, void* context) {
  try {
    return millrace::threads::run(*request, part, context);
  } catch (...) {  // memory: nothing has been run, for the region itself allocates nothing
    return {1, "out of memory"};
  }
}

extern "C" __attribute__((visibility("default"))) TeamDecision millrace_threads_decide(
    const millrace::threads::Request* request) {
  try {
    return millrace::threads::decide_only(*request);
  } catch (...) {
    return {1, "out of memory"};
  }
}
