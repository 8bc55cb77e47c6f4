// Whether threads of the program may be inside MPI at the same time (MPI_THREAD_MULTIPLE). Where not, what only they
// touch needs no locked operations: each of these takes until what was written before has left the core
// (light_fence.h). What threads of ours touch, too, is not meant here.
#pragma once

#include <atomic>
#include <mutex>

namespace millrace {

// True until more is known. Changes only while one thread is inside MPI.
extern constinit std::atomic<bool> threads_together;
inline bool are_threads_together() { return __builtin_expect(threads_together.load(std::memory_order_relaxed), 0); }

// Of a counter or pointer that threads of the program change, and others may read.
template <class Number>
void add_in_program(std::atomic<Number>& number, Number added) {
  if (are_threads_together())
    number.fetch_add(added, std::memory_order_seq_cst);
  else
    number.store(number.load(std::memory_order_relaxed) + added, std::memory_order_release);
}

template <class Value>
Value exchange_in_program(std::atomic<Value>& place, Value value) {
  if (are_threads_together()) return place.exchange(value, std::memory_order_seq_cst);
  const Value former = place.load(std::memory_order_relaxed);
  place.store(value, std::memory_order_relaxed);
  return former;
}

// Of what only threads of the program touch.
class ProgramMutex {
 public:
  void lock() {
    if (are_threads_together()) lock_together();
  }
  void unlock() {
    if (is_locked_) unlock_together();
  }

 private:
  void lock_together() {
    mutex_.lock();
    is_locked_ = true;
  }
  void unlock_together() {
    is_locked_ = false;
    mutex_.unlock();
  }
  std::mutex mutex_;
  bool is_locked_ = false;
};

}  // namespace millrace
