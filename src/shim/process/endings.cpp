#include "shim/process/endings.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "shim/process/publish.h"

namespace millrace::shim {
namespace {

// The process that watches, 0 if none does: children of fork() end in any way. Taken by who reports.
constinit std::atomic<pid_t> watching{0};

bool may_report() {
  pid_t self = getpid();
  return watching.compare_exchange_strong(self, 0, std::memory_order_acq_rel);
}

void report_ending(const char* how, Ending ending) noexcept try { publish_ending(how, ending); } catch (...) {
}

void at_exit() {
  if (may_report()) report_ending("exit() without MPI_Finalize", Ending::alone);
}

// ---- signals ----

struct Watched {
  int signal;
  const char* name;
  bool is_fault;  // of this rank; others come from without, to all ranks, and are left to whoever asked for them
  struct sigaction before;
};
std::array<Watched, 8> watched{{{SIGSEGV, "SIGSEGV", true, {}},
                                {SIGBUS, "SIGBUS", true, {}},
                                {SIGFPE, "SIGFPE", true, {}},
                                {SIGILL, "SIGILL", true, {}},
                                {SIGABRT, "SIGABRT", true, {}},
                                {SIGTERM, "SIGTERM", false, {}},
                                {SIGINT, "SIGINT", false, {}},
                                {SIGXCPU, "SIGXCPU", false, {}}}};

constexpr unsigned patience_seconds = 3;
constinit std::atomic<int> ending_signal{0};

void set_default(int signal) {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, nullptr);
}

// The report hangs, most likely for a lock that the interrupted thread holds.
void give_up(int) {
  const int signal = ending_signal.load(std::memory_order_relaxed);
  set_default(signal);
  kill(getpid(), signal);
}

void watch_over_report(int signal) {
  ending_signal.store(signal, std::memory_order_relaxed);
  struct sigaction alarm_action {};
  alarm_action.sa_handler = give_up;
  sigaction(SIGALRM, &alarm_action, nullptr);
  sigset_t alarm_set;
  sigemptyset(&alarm_set);
  sigaddset(&alarm_set, SIGALRM);
  sigaddset(&alarm_set, signal);
  pthread_sigmask(SIG_UNBLOCK, &alarm_set, nullptr);
  alarm(patience_seconds);
}

void end_by(int signal, siginfo_t* info, void*) {
  const int error_number = errno;
  for (Watched& one : watched) {
    if (one.signal != signal) continue;
    if (may_report()) {
      watch_over_report(signal);
      report_ending(one.name, one.is_fault ? Ending::alone : Ending::with_all);
      alarm(0);
    }
    sigaction(signal, &one.before, nullptr);
  }
  errno = error_number;
  // What the processor found wrong is found again when this returns, by whoever handled it before.
  if (info && info->si_code > 0 && signal != SIGABRT && signal != SIGXCPU && signal != SIGINT && signal != SIGTERM)
    return;
  raise(signal);
}

void watch_signals() {
  for (Watched& one : watched) {
    if (sigaction(one.signal, nullptr, &one.before) != 0) continue;
    const bool is_default = (one.before.sa_flags & SA_SIGINFO) == 0 && one.before.sa_handler == SIG_DFL;
    const bool is_ignored = (one.before.sa_flags & SA_SIGINFO) == 0 && one.before.sa_handler == SIG_IGN;
    // Whoever handles a signal from without knows what it wants of it, and may not want to end.
    if (is_ignored || (!one.is_fault && !is_default)) continue;
    struct sigaction action {};
    action.sa_sigaction = end_by;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(one.signal, &action, nullptr);
  }
}

void leave_signals() {
  for (const Watched& one : watched) {
    struct sigaction now {};
    if (sigaction(one.signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == end_by)
      sigaction(one.signal, &one.before, nullptr);
  }
}

}  // namespace

void watch_endings() noexcept {
  static bool has_exit_handler = false;
  if (!has_exit_handler) has_exit_handler = std::atexit(at_exit) == 0;
  watching.store(getpid(), std::memory_order_release);
  watch_signals();
}

void forget_endings() noexcept {
  if (may_report()) leave_signals();
}

void aborting() noexcept {
  if (may_report()) report_ending("MPI_Abort", Ending::alone);
}

}  // namespace millrace::shim
