#include "shim/process/ending_signals.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "shim/process/report_helper.h"

namespace millrace::shim {
namespace {

struct Watched {
  int signal;
  const char* name;
  bool is_fault;  // of this rank; others come from without, most likely to all ranks
  struct sigaction of_program, before;
};
std::array<Watched, 10> watched{{{SIGSEGV, "SIGSEGV", true, {}, {}},
                                 {SIGBUS, "SIGBUS", true, {}, {}},
                                 {SIGFPE, "SIGFPE", true, {}, {}},
                                 {SIGILL, "SIGILL", true, {}, {}},
                                 {SIGABRT, "SIGABRT", true, {}, {}},
                                 {SIGTERM, "SIGTERM", false, {}, {}},
                                 {SIGINT, "SIGINT", false, {}, {}},
                                 {SIGHUP, "SIGHUP", false, {}, {}},
                                 {SIGQUIT, "SIGQUIT", false, {}, {}},
                                 {SIGXCPU, "SIGXCPU", false, {}, {}}}};

constinit std::atomic<pthread_t> helper{};
constinit std::atomic<bool> has_helper{false};

bool is_plain(const struct sigaction& action, sighandler_t handler) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == handler;
}

bool same_handler(const struct sigaction& left, const struct sigaction& right) {
  const bool left_has_info = (left.sa_flags & SA_SIGINFO) != 0, right_has_info = (right.sa_flags & SA_SIGINFO) != 0;
  if (left_has_info != right_has_info) return false;
  return left_has_info ? left.sa_sigaction == right.sa_sigaction : left.sa_handler == right.sa_handler;
}

// Again, and as it came: whoever handles it sees the same sender. Delivered when the handler returns.
void send_again(int signal, siginfo_t* info) {
  if (!info || syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, info) != 0) raise(signal);
}

// What the processor found wrong it finds again when the handler returns, and whoever handles it then sees where. A
// page of memory that failed elsewhere is only told of once.
bool happens_again(const Watched& one, const siginfo_t* info) {
  if (!one.is_fault || one.signal == SIGABRT || !info || info->si_code <= 0) return false;
  return one.signal != SIGBUS || info->si_code != BUS_MCEERR_AO;
}

// Nothing in here may take a lock or memory.
void end_by(int signal, siginfo_t* info, void*) {
  const int error_number = errno;
  if (has_helper.load(std::memory_order_acquire) && pthread_equal(pthread_self(), helper.load()) != 0) {
    give_report_up();
    for (;;) pause();  // until the process ends
  }
  for (const Watched& one : watched) {
    if (one.signal != signal) continue;
    const bool is_last = is_plain(one.before, SIG_DFL) || !same_handler(one.before, one.of_program);
    report_ending(one.name, !one.is_fault ? Ending::with_all : is_last ? Ending::of_one : Ending::perhaps);
    sigaction(signal, &one.before, nullptr);
    if (!happens_again(one, info)) send_again(signal, info);
  }
  errno = error_number;
}

// A stack that has run over cannot be used by a handler, and is what ends many a Fortran program. Of the thread that
// calls this, unless it has one.
void have_stack_for_handlers() {
  constexpr std::size_t bytes = std::size_t{128} << 10;  // registers of AVX-512 and AMX take 11 KiB
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t own{};
  own.ss_sp = memory;
  own.ss_size = bytes;
  if (sigaltstack(&own, nullptr) != 0) munmap(memory, bytes);
}

}  // namespace

void note_own_handlers() noexcept {
  for (Watched& one : watched) sigaction(one.signal, nullptr, &one.of_program);
}

void watch_signals() noexcept {
  have_stack_for_handlers();
  for (Watched& one : watched) {
    if (sigaction(one.signal, nullptr, &one.before) != 0) continue;
    // Whoever handles a signal from without knows what it wants of it, and may not want to end.
    if (is_plain(one.before, SIG_IGN) || (!one.is_fault && !is_plain(one.before, SIG_DFL))) continue;
    struct sigaction action {};
    action.sa_sigaction = end_by;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (one.before.sa_flags & SA_RESTART);
    sigaction(one.signal, &action, nullptr);
  }
}

void leave_signals() noexcept {
  for (const Watched& one : watched) {
    struct sigaction now {};
    if (sigaction(one.signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == end_by)
      sigaction(one.signal, &one.before, nullptr);
  }
}

void in_report_helper() noexcept {
  helper.store(pthread_self(), std::memory_order_relaxed);
  has_helper.store(true, std::memory_order_release);
}

}  // namespace millrace::shim
