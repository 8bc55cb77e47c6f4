// Bytes in a row, from one place to another that does not overlap it. Thread-safe, cannot fail.
#pragma once

#include <cstddef>
#include <cstring>

namespace millrace::kernel {

// As memcpy. glibc's copies rows of 2 KiB and more by `rep movsb` where the processor says that it is fast, and so does
// the kernel for process_vm_readv. On Zen 3 that takes 16 times as long (the kernel's 4.5 times) where the destination
// lies 1 to 31 bytes further in its page than the source: from the beginning of a page to what malloc gives for large
// arrays, 16 bytes behind one. There vectors copy, if the processor is found to be so slow (not on Zen 5, where vectors
// take twice as long).
void copy_long_row(void* to, const void* from, std::size_t bytes);
// Below, glibc uses vectors.
inline constexpr std::size_t least_string_bytes = 2048;
inline void copy_row(void* to, const void* from, std::size_t bytes) {
  if (bytes < least_string_bytes)
    std::memcpy(to, from, bytes);
  else
    copy_long_row(to, from, bytes);
}

// Whether `rep movsb` is slow from an address to another on this processor, known for Zen 3 and 4, else measured when
// it is first asked for; without that instruction: no.
bool string_copy_is_slow(const void* to, const void* from);
// For tests: as if it had been found that they are, or that they are the best way for long rows as well.
void assume_string_copies(bool are_slow);

// As copy_row(), with non-temporal stores where the processor has them: for who reads next on a core whose lines are
// far. Ends with the fence that makes such stores ordinary ones to other threads.
void copy_row_streaming(void* to, const void* from, std::size_t bytes);
#if defined(__x86_64__)
inline constexpr bool can_stream = true;
#else
inline constexpr bool can_stream = false;
#endif

}  // namespace millrace::kernel
