#include "shim/shared/background_helper.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>

#include "base/light_fence.h"
#include "base/log.h"
#include "base/program_threads.h"
#include "shared_memory/futex.h"
#include "shim/shared/background_channel.h"
#include "shim/shared/background_progress.h"

namespace millrace::shim {
namespace {

// So long may a call wait for this rank before the thread looks: the longer the less it was needed of late, for each
// look takes the core from somebody. It sleeps for good after so many looks at nothing.
constexpr std::uint64_t shortest_pause_ns = 100'000, longest_pause_ns = 2'000'000;
constexpr int looks_before_sleep = 50;
constexpr std::uint64_t deep_sleep_ns = 10'000'000'000;

pthread_t thread;
bool is_there = false;
std::atomic<bool> ends{false};
std::atomic<std::uint64_t> advances{0};
std::atomic<std::uint32_t> bell{0}, asleep{0};

void pause(std::uint64_t time_ns) {
  const timespec length{0, static_cast<long>(time_ns)};
  nanosleep(&length, nullptr);
}

void sleep_until_begun() {
  const std::uint32_t heard = bell.load(std::memory_order_acquire);  // partner: note_background_advance()
  asleep.store(1, std::memory_order_seq_cst);
  // Partner: the increment of open_background_calls and the load of `asleep` that follows it.
  if (!are_threads_together()) heavy_fence();
  if (open_background_calls.load(std::memory_order_seq_cst) == 0 && !ends.load(std::memory_order_seq_cst))
    shared_memory::futex_wait(bell, heard, deep_sleep_ns);
  asleep.store(0, std::memory_order_relaxed);
}

void* help(void*) {
  // Here, because it may take some milliseconds.
  if (!are_threads_together() && !prepare_heavy_fences()) {
    log(LogLevel::warning, "membarrier(2) is refused: nonblocking collectives move only inside of MPI");
    return nullptr;
  }
  std::uint64_t pause_ns = shortest_pause_ns;
  int idle_looks = 0;
  while (!ends.load(std::memory_order_acquire)) {
    const bool any = any_in_background();
    if (!any && ++idle_looks > looks_before_sleep) {
      sleep_until_begun();
      idle_looks = 0;
      continue;
    }
    const std::uint64_t seen = advances.load(std::memory_order_relaxed);
    pause(pause_ns);
    const bool is_needed = any && advances.load(std::memory_order_relaxed) == seen && help_background();
    if (any) idle_looks = 0;
    pause_ns = is_needed ? shortest_pause_ns : std::min(2 * pause_ns, longest_pause_ns);
  }
  return nullptr;
}

}  // namespace

bool have_background_helper() noexcept {
  if (is_there) return true;
  ends.store(false, std::memory_order_relaxed);
  // The program's signals are for the program's threads.
  sigset_t all, former;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &former);
  is_there = pthread_create(&thread, nullptr, help, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
  if (!is_there) log(LogLevel::info, "no thread can be started: nonblocking collectives are left to the host");
  return is_there;
}

void end_background_helper() noexcept {
  if (!is_there) return;
  ends.store(true, std::memory_order_seq_cst);
  bell.fetch_add(1, std::memory_order_release);
  shared_memory::futex_wake(bell);
  pthread_join(thread, nullptr);
  is_there = false;
}

void note_background_advance() noexcept {
  advances.store(advances.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  light_fence();
  if (asleep.load(std::memory_order_seq_cst) == 0) return;  // partner: sleep_until_begun()
  bell.fetch_add(1, std::memory_order_release);
  shared_memory::futex_wake(bell);
}

}  // namespace millrace::shim
