// A fence for two threads that each write a word of their own and then read the other's, of which one comes often and
// one seldom: who comes often pays nothing, who comes seldom fences for both (membarrier(2)).
//
// A fence, or any locked operation, takes until all that its thread has written before has left the core. That is a
// trip to another core (50 to 250 ns) where it was a line that other ranks read, as with each collective.
#pragma once

#include <atomic>

namespace millrace {

// Whether this system can do it. Quick.
bool has_heavy_fences() noexcept;
// Once a process, before its first heavy_fence(); may take some milliseconds. False: there is none.
bool prepare_heavy_fences() noexcept;
// A full fence of this thread and, as it were, of all others.
void heavy_fence() noexcept;

// Where a thread that comes often would need a fence: keeps the compiler from moving loads above stores.
inline void light_fence() { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace millrace
