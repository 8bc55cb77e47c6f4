// What a call that is passed to the host says to the other ranks of the node: those that sleep in a collective of ours
// wake and drive their host, for it may need them (shared_memory/attention.h). While nobody sleeps this is one load.
#pragma once

#include <atomic>

#include "entries.h"
#include "shared_memory/attention.h"

namespace millrace::shim {

// Never null: memory of this process, where nobody sleeps, until ranks share some.
extern std::atomic<shared_memory::Attention*> attention;
extern std::atomic<shared_memory::Attention::Seat*> own_seat;

// From MPI_Init on, by one thread; nothing (the default) before the memory goes.
void use_seating(const shared_memory::Seating& seating);
const shared_memory::Seating& seating();

[[gnu::cold, gnu::noinline]] void ring_for_host();

inline bool somebody_sleeps() {
  // Relaxed: who falls asleep just now looks at its host once more, and not for long (partner: fall_asleep()).
  return __builtin_expect(attention.load(std::memory_order_relaxed)->sleepers.load(std::memory_order_relaxed) != 0, 0);
}

// Before a call of the host that may need others. In line: the compiler takes each of these for too much in functions
// of many arguments, and calls cost more than they do.
[[gnu::always_inline]] inline void announce_traffic() {
  if (somebody_sleeps()) ring_for_host();
}

// After a call that may have given the host something for others. Not before it: who reads the number, looks and sees
// nothing takes all that is counted for seen, so what is counted must be there. Threads may lose one of two that come
// at a time: that some were given is still seen.
[[gnu::always_inline]] inline void count_given() {
  std::atomic<std::uint32_t>& given = own_seat.load(std::memory_order_relaxed)->given;
  // Partner: given_by_others().
  given.store(given.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// Before a call that connects the job with others.
inline void announce_strangers() {
  attention.load(std::memory_order_relaxed)->strangers.store(1, std::memory_order_relaxed);
}

// While the host is in a call that waits for others, for `whom` (Attention::Seat::inside). Threads and calls within
// calls may say too early that it is over: then others sleep a little longer.
class InsideHost {
 public:
  [[gnu::always_inline]] explicit InsideHost(std::uint32_t whom = shared_memory::Attention::anybody)
      : inside_(own_seat.load(std::memory_order_relaxed)->inside) {
    inside_.store(whom, std::memory_order_relaxed);
  }
  [[gnu::always_inline]] ~InsideHost() { inside_.store(shared_memory::Attention::nobody, std::memory_order_relaxed); }
  InsideHost(const InsideHost&) = delete;
  InsideHost& operator=(const InsideHost&) = delete;

 private:
  std::atomic<std::uint32_t>& inside_;
};

}  // namespace millrace::shim
