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
// The process that has the thread, 0 if there is none: a child of fork() has not. Taken by who is to be reported of.
constinit std::atomic<pid_t> watching{0};
enum State : std::uint32_t { asleep, asked, done, dismissed };
constinit std::atomic<std::uint32_t> state{asleep};
constinit std::atomic<const char*> how_it_ended{nullptr};
constinit std::atomic<Ending> which{Ending::of_one};

void move_to(State next) {
  state.store(next, std::memory_order_release);  // partner: the acquires below
  shared_memory::futex_wake(state);
}

void* help(void*) {
  std::free(std::malloc(1));  // has a part of the heap to itself from now on, unless the program forbids it
  while (state.load(std::memory_order_acquire) == asleep) shared_memory::futex_wait(state, asleep, longest_sleep_ns);
  if (state.load(std::memory_order_acquire) != asked) return nullptr;
  in_report_helper();
  try {
    publish_ending(how_it_ended.load(std::memory_order_relaxed), which.load(std::memory_order_relaxed));
  } catch (...) {  // no memory, no report
  }
  move_to(done);
  return nullptr;
}

bool take() {
  pid_t self = getpid();
  return watching.compare_exchange_strong(self, 0, std::memory_order_acq_rel);
}

}  // namespace

bool start_report_helper() noexcept {
  state.store(asleep, std::memory_order_relaxed);
  // The program's signals are for the program's threads; what goes wrong in this one is seen by it.
  sigset_t most, former;
  sigfillset(&most);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&most, fault);
  pthread_sigmask(SIG_SETMASK, &most, &former);
  const bool is_there = pthread_create(&thread, nullptr, help, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
  if (is_there) watching.store(getpid(), std::memory_order_release);
  return is_there;
}

void end_report_helper() noexcept {
  if (!take()) return;
  move_to(dismissed);
  pthread_join(thread, nullptr);
}

void report_ending(const char* how, Ending ending) noexcept {
  const int error_number = errno;
  if (take()) {
    how_it_ended.store(how, std::memory_order_relaxed);
    which.store(ending, std::memory_order_relaxed);
    move_to(asked);
  }
  // Also for another thread that ends it meanwhile.
  const std::uint64_t until_ns = monotonic_ns() + patience_ns;
  for (std::uint64_t now_ns = monotonic_ns();
       now_ns < until_ns && state.load(std::memory_order_acquire) == asked;  // partner: move_to()
       now_ns = monotonic_ns())
    shared_memory::futex_wait(state, asked, until_ns - now_ns);
  errno = error_number;
}

void give_report_up() noexcept { move_to(done); }

}  // namespace millrace::shim
