#include "kernel/streaming.h"

#include <cstdint>
#include <cstring>

#include "kernel/kernel.h"
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace millrace::kernel {
namespace {

// A block is reduced into memory that stays in the first-level cache and leaves from there: the stores do not depend
// on op, type or instruction set, and the detour is hidden behind main memory.
constexpr std::size_t block_bytes = 4096;
constexpr std::size_t line_bytes = 64;

#if defined(__x86_64__)
// `to` is aligned to a line, `bytes` are whole lines. Four 16-byte stores fill one write-combining buffer, as fast as
// one of 64 bytes, so that the baseline instruction set is enough.
void stream_lines(char* to, const char* from, std::size_t bytes) {
  const auto at = [](const char* source) {
    return _mm_loadu_si128(static_cast<const __m128i_u*>(static_cast<const void*>(source)));
  };
  for (std::size_t i = 0; i < bytes; i += line_bytes) {
    __m128i* const line = static_cast<__m128i*>(static_cast<void*>(to + i));
    _mm_stream_si128(line, at(from + i));
    _mm_stream_si128(line + 1, at(from + i + 16));
    _mm_stream_si128(line + 2, at(from + i + 32));
    _mm_stream_si128(line + 3, at(from + i + 48));
  }
}
void fence() { _mm_sfence(); }
#else
void stream_lines(char* to, const char* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void fence() {}
#endif

bool has_gaps(Type type) {
  return type == Type::f80 || type == Type::c80 || type == Type::f80_i32 || type == Type::f128_i32 ||
         type == Type::i16_i32 || type == Type::i64_i32 || type == Type::f64_i32;
}

}  // namespace

void reduce_n_streaming(Op op, Type type, const void* const* inputs, std::size_t count, void* out,
                        std::size_t elements) {
  const ReduceN reduce = find_reduce_n(op, type);
  constexpr std::size_t most_inputs = 64;
  const std::size_t bytes = type_bytes(type);
  // Whole lines would overwrite gaps.
  if (has_gaps(type) || count > most_inputs || elements * bytes < 2 * block_bytes)
    return reduce(inputs, count, out, elements);

  alignas(line_bytes) char block[block_bytes];
  const void* at[most_inputs];
  char* to = static_cast<char*>(out);
  // The first elements are stored as usual, up to a line boundary or, if elements straddle it, just past it.
  const std::size_t before_line = (line_bytes - reinterpret_cast<std::uintptr_t>(to) % line_bytes) % line_bytes;
  std::size_t done = (before_line + bytes - 1) / bytes;
  reduce(inputs, count, to, done);
  while (elements - done > 0) {
    const std::size_t room = block_bytes / bytes;
    const std::size_t n = elements - done < room ? elements - done : room;
    for (std::size_t k = 0; k < count; ++k) at[k] = static_cast<const char*>(inputs[k]) + done * bytes;
    reduce(at, count, block, n);
    char* const start = to + done * bytes;
    const std::size_t head = (line_bytes - reinterpret_cast<std::uintptr_t>(start) % line_bytes) % line_bytes;
    // Not zero if elements straddle lines: then each block has a few bytes on either side.
    const std::size_t used_head = head < n * bytes ? head : n * bytes;
    const std::size_t lines = (n * bytes - used_head) / line_bytes * line_bytes;
    std::memcpy(start, block, used_head);
    stream_lines(start + used_head, block + used_head, lines);
    std::memcpy(start + used_head + lines, block + used_head + lines, n * bytes - used_head - lines);
    done += n;
  }
  fence();
}

}  // namespace millrace::kernel
