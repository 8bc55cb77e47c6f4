#include "kernel/copy/row.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/clock.h"
#include "kernel/cpu.h"

namespace millrace::kernel {
namespace {

#if defined(__x86_64__)
constexpr std::size_t page_bytes = 4096;
// Slow up to 31 on Zen 3.
constexpr std::size_t slow_up_to_bytes = 63;

// Of rows of so many bytes, Zen 5's string copies take 0.75 to 0.97 of the time of glibc 2.36, which goes over to
// vectors at the size of the second cache (docs/results/copies.md). Beyond, what does not fit the last cache is left to
// it.
constexpr std::size_t long_from_bytes = std::size_t{1} << 20, long_to_bytes = std::size_t{32} << 20;

enum class Pace : std::uint8_t { unknown, even, swift, slow };  // even: nowhere slow; swift: and better than vectors
std::atomic<Pace> pace = Pace::unknown;

void copy_string(char* to, const char* from, std::size_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

// A page to a page, and to 16 bytes behind the beginning of one, a few times each: what else happens only adds. Takes
// some microseconds, once.
bool is_slow_behind() {
  constexpr int rounds = 8;
  constexpr std::size_t distance = 16;
  constexpr std::uint64_t times_as_long = 3;
  alignas(page_bytes) char to[2 * page_bytes], from[page_bytes] = {};
  std::uint64_t even = ~std::uint64_t{0}, behind = even;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t begin = clock_ticks();
    copy_string(to, from, page_bytes);
    const std::uint64_t between = clock_ticks();
    copy_string(to + distance, from, page_bytes);
    even = std::min(even, between - begin);
    behind = std::min(behind, clock_ticks() - between);
  }
  return behind > times_as_long * even;
}

Pace find_pace() {
  if (is_zen_3_or_4() || is_slow_behind()) return Pace::slow;
  return is_zen_5() ? Pace::swift : Pace::even;
}

Pace pace_of_strings() {
  Pace known = pace.load(std::memory_order_relaxed);
  if (known == Pace::unknown) {
    known = find_pace();
    pace.store(known, std::memory_order_relaxed);
  }
  return known;
}

constexpr std::size_t line_bytes = 64, vector_bytes = 16, vectors = 8, step_bytes = vectors * vector_bytes;

__m128i load(const char* from) {
  return _mm_loadu_si128(static_cast<const __m128i_u*>(static_cast<const void*>(from)));
}
__m128i* aligned(char* to) { return static_cast<__m128i*>(static_cast<void*>(to)); }
std::size_t to_line(const void* to) {
  return (line_bytes - reinterpret_cast<std::uintptr_t>(to) % line_bytes) % line_bytes;
}

// `to` is aligned to a line, `bytes` are whole steps. All loads of a step before its stores.
void copy_steps(char* to, const char* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += step_bytes) {
    __m128i step[vectors];
    for (std::size_t k = 0; k < vectors; ++k) step[k] = load(from + i + k * vector_bytes);
    for (std::size_t k = 0; k < vectors; ++k) _mm_store_si128(aligned(to + i + k * vector_bytes), step[k]);
  }
}
void stream_steps(char* to, const char* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += step_bytes) {
    __m128i step[vectors];
    for (std::size_t k = 0; k < vectors; ++k) step[k] = load(from + i + k * vector_bytes);
    for (std::size_t k = 0; k < vectors; ++k) _mm_stream_si128(aligned(to + i + k * vector_bytes), step[k]);
  }
}

// Up to a line and from the last whole step on by memcpy.
template <class Steps>
void copy_by(Steps steps, char* to, const char* from, std::size_t bytes) {
  const std::size_t head = to_line(to), body = (bytes - head) / step_bytes * step_bytes, done = head + body;
  std::memcpy(to, from, head);
  steps(to + head, from + head, body);
  std::memcpy(to + done, from + done, bytes - done);
}
#endif

}  // namespace

bool string_copy_is_slow([[maybe_unused]] const void* to, [[maybe_unused]] const void* from) {
#if defined(__x86_64__)
  const std::size_t further =
      (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from)) % page_bytes;
  return further != 0 && further <= slow_up_to_bytes && pace_of_strings() == Pace::slow;
#else
  return false;
#endif
}

void assume_string_copies([[maybe_unused]] bool are_slow) {
#if defined(__x86_64__)
  pace.store(are_slow ? Pace::slow : Pace::swift, std::memory_order_relaxed);
#endif
}

void copy_long_row(void* to, const void* from, std::size_t bytes) {
#if defined(__x86_64__)
  if (bytes >= long_from_bytes && bytes <= long_to_bytes && pace_of_strings() == Pace::swift)
    return copy_string(static_cast<char*>(to), static_cast<const char*>(from), bytes);
  if (string_copy_is_slow(to, from))
    return copy_by(copy_steps, static_cast<char*>(to), static_cast<const char*>(from), bytes);
#endif
  std::memcpy(to, from, bytes);
}

void copy_row_streaming(void* to, const void* from, std::size_t bytes) {
#if defined(__x86_64__)
  if (bytes >= 2 * step_bytes) {
    copy_by(stream_steps, static_cast<char*>(to), static_cast<const char*>(from), bytes);
    _mm_sfence();
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace millrace::kernel
