// Large reductions and copies split over the idle cores of this rank. What includes this needs libc only: the decision
// and the OpenMP runtime are in libmillrace_threads.so, loaded by the first reduction that is large enough.
//
//   if (threads::is_large(bytes)) threads::reduce2(kernel, in, inout, elements, element_bytes);
//   else                          kernel(in, inout, elements);
#pragma once

#include <atomic>
#include <cstddef>

#include "kernel/kernel_set.h"
#include "threads/interface.h"

namespace millrace::threads {

// From docs/results/threads.md: below, waking a thread costs more than its half of the work.
inline constexpr std::size_t measured_least_bytes = std::size_t{8} << 20;
inline constexpr std::size_t never = ~std::size_t{0};

// Bytes of one buffer from which a reduction may be split; `never` until use() allows it.
extern std::atomic<std::size_t> least_bytes;
inline bool is_large(std::size_t bytes) {
  return __builtin_expect(bytes >= least_bytes.load(std::memory_order_relaxed), 0);
}

// `threads`: 0 to decide at each reduction, 1 never to split, else as many. `least`: bytes of one buffer.
// `processes`: of the MPI world; 0: not known or no MPI. For all threads; calls under way end as they began.
void use(unsigned threads, std::size_t least, int processes);
unsigned threads_in_use();  // as given to use()

// The value of MILLRACE_THREADS: 0 for "auto", else the number, 1024 at most; -1 if it is neither.
long parse_threads(const char* text);
// The value of MILLRACE_THREADS_BYTES in bytes: 4096, 512KiB, 4MiB, 1GiB; -1 if it is none.
long long parse_least_bytes(const char* text);

// What a large reduction called now, from this thread, would use, and why. Loads libmillrace_threads.so.
TeamDecision decide_now();

// Work of another kind that may be cut anywhere: whether the parts have been run, each once; if not, it is left to the
// caller. `part` must not throw.
bool run_parts(Part part, void* context);

// As the kernel does it alone, bit for bit; on several threads if there are cores for them. True if there were.
// Thread-safe as the kernel is. `element_bytes` is the distance between elements.
bool reduce2(kernel::Reduce2 reduce, const void* in, void* inout, std::size_t elements, std::size_t element_bytes);
bool reduce3(kernel::Reduce3 reduce, const void* a, const void* b, void* out, std::size_t elements,
             std::size_t element_bytes);

// For the n-ary forms: `reduce` gets inputs that start at its part.
using ReduceMany = void (*)(kernel::Op op, kernel::Type type, const void* const* inputs, std::size_t count, void* out,
                            std::size_t elements);
bool reduce_many(ReduceMany reduce, kernel::Op op, kernel::Type type, const void* const* inputs, std::size_t count,
                 void* out, std::size_t elements, std::size_t element_bytes);

}  // namespace millrace::threads
