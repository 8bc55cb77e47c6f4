#include "shim/process/report_helper.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/clock.h"
#include "shared_memory/futex.h"
#include "shim/process/ending_signals.h"

namespace millrace::shim {
namespace {

// Launchers that end a job kill what is still there a second later, or a few.
constexpr std::uint64_t patience_ns = 1'500'000'000, longest_sleep_ns = 3'600'000'000'000;

pthread_t thread;
// The process that has the thread, 0 if there is none: a child of fork() has not.
constinit std::atomic<pid_t> watching{0};
enum State : std::uint32_t { asleep, claimed, asked, done, dismissed };
constinit std::atomic<std::uint32_t> state{asleep};
constinit std::atomic<const char*> how_it_ended{nullptr};
constinit std::atomic<Ending> which{Ending::of_one};

void move_to(State next) {
  state.store(next, std::memory_order_release);  // partner: the acquires below
  shared_memory::futex_wake(state);
}

void* help(void*) {
  std::free(std::malloc(1));  // has a part of the heap to itself from now on, unless the program forbids it
  in_report_helper();
  for (;;) {
    std::uint32_t now = asleep;
    while ((now = state.load(std::memory_order_acquire)) < asked)
      shared_memory::futex_wait(state, now, longest_sleep_ns);
    if (now != asked) return nullptr;
    const Ending ending = which.load(std::memory_order_relaxed);
    try {
      publish_ending(how_it_ended.load(std::memory_order_relaxed), ending);
    } catch (...) {  // no memory, no report
    }
    if (ending != Ending::perhaps) break;
    move_to(asleep);  // it may go on, and end otherwise
  }
  move_to(done);
  return nullptr;
}

bool is_watched() {
  const pid_t process = watching.load(std::memory_order_acquire);
  return process != 0 && process == getpid();
}

bool move_from_sleep(State next) {
  std::uint32_t former = asleep;
  return state.compare_exchange_strong(former, next, std::memory_order_acq_rel);
}

void wait_for_report() {
  const std::uint64_t until_ns = monotonic_ns() + patience_ns;
  for (std::uint64_t now_ns = monotonic_ns(); now_ns < until_ns; now_ns = monotonic_ns()) {
    const std::uint32_t now = state.load(std::memory_order_acquire);  // partner: move_to()
    if (now != claimed && now != asked) break;
    shared_memory::futex_wait(state, now, until_ns - now_ns);
  }
}

}  // namespace

bool start_report_helper() noexcept {
  state.store(asleep, std::memory_order_relaxed);
  // The program's signals are for the program's threads; what goes wrong in this one is seen by it.
  sigset_t most, former;
  sigfillset(&most);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&most, fault);
  pthread_sigmask(SIG_SETMASK, &most, &former);
  // Not what the program's limit says, which may be all that there is, and be locked into memory.
  constexpr std::size_t stack_bytes = std::size_t{1} << 20;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  const bool is_there = pthread_create(&thread, &attributes, help, nullptr) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
  if (is_there) watching.store(getpid(), std::memory_order_release);
  return is_there;
}

bool has_report_helper() noexcept { return is_watched(); }

void end_report_helper() noexcept {
  if (!is_watched()) return;
  wait_for_report();
  watching.store(0, std::memory_order_release);
  if (!move_from_sleep(dismissed)) return;  // at work still, or has ended
  shared_memory::futex_wake(state);
  pthread_join(thread, nullptr);
}

void report_ending(const char* how, Ending ending) noexcept {
  if (!is_watched()) return;
  const int error_number = errno;
  if (move_from_sleep(claimed)) {
    how_it_ended.store(how, std::memory_order_relaxed);
    which.store(ending, std::memory_order_relaxed);
    move_to(asked);
  }
  wait_for_report();  // also for another thread that ends it meanwhile
  errno = error_number;
}

void give_report_up() noexcept { move_to(done); }

}  // namespace millrace::shim
