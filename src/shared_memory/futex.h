// Sleeping on a word of shared memory.
#pragma once

#include <atomic>
#include <cstdint>

namespace millrace::shared_memory {

// Sleeps until futex_wake, at most `timeout_ns`, and not at all if the word is not `expected`. May end early.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t timeout_ns);
void futex_wake(const std::atomic<std::uint32_t>& word);  // everybody

// A hint to the processor that this is a wait.
inline void cpu_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

// Asks for the cache line at `address`, which need not be there.
inline void prefetch_to_read(const void* address) { __builtin_prefetch(address); }

// Asks for it as who will write it. (For x86-64 in general GCC's builtin asks as a reader.)
inline void prefetch_to_write(const void* address) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace millrace::shared_memory
