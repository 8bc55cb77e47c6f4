// A lock of the process for what a report reads: it may be asked for in vain, since a signal may stop whoever has it,
// and a child of fork() has it anew. Constant-initialised.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>

namespace millrace::record {

struct ProcessLock {
  // Called once, before anybody can hold it: has pthread_atfork() call make_anew() in a child.
  void (*prepare)();
  std::atomic<bool> is_held{false};  // acquire and release, each other's partner
  pthread_once_t once = PTHREAD_ONCE_INIT;

  void make_anew() { is_held.store(false, std::memory_order_relaxed); }  // one thread is left: no partner
};

class Hold {
 public:
  static constexpr int until_free = -1, a_while = 1000;

  explicit Hold(ProcessLock& lock, int tries = until_free) : lock_(lock) {
    pthread_once(&lock.once, lock.prepare);
    for (; tries != 0; tries -= tries > 0 ? 1 : 0) {
      has_ = !lock.is_held.exchange(true, std::memory_order_acquire);
      if (has_) return;
      sched_yield();
    }
  }
  ~Hold() {
    if (has_) lock_.is_held.store(false, std::memory_order_release);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  bool has() const { return has_; }

 private:
  ProcessLock& lock_;
  bool has_ = false;
};

}  // namespace millrace::record
