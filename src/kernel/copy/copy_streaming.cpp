#include "kernel/copy/copy_streaming.h"

#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace millrace::kernel {
namespace {

constexpr std::size_t line_bytes = 64;

#if defined(__x86_64__)
// Blocks are packed into memory that stays in the first-level cache and leaves from there: see streaming.cpp.
constexpr std::size_t stage_bytes = 4096;

void stream_line(char* to, const char* from) {
  __m128i* const line = static_cast<__m128i*>(static_cast<void*>(to));
  const __m128i_u* const source = static_cast<const __m128i_u*>(static_cast<const void*>(from));
  _mm_stream_si128(line, _mm_loadu_si128(source));
  _mm_stream_si128(line + 1, _mm_loadu_si128(source + 1));
  _mm_stream_si128(line + 2, _mm_loadu_si128(source + 2));
  _mm_stream_si128(line + 3, _mm_loadu_si128(source + 3));
}
#endif

}  // namespace

void pack_strided_streaming(PackStrided pack, void* packed, const void* base, std::size_t block_bytes,
                            std::ptrdiff_t stride_bytes, std::size_t block_count) {
#if defined(__x86_64__)
  const std::size_t room_blocks = (stage_bytes - line_bytes) / (block_bytes ? block_bytes : 1);
  if (room_blocks >= 8) {
    // Staged at the place in its line that it will have, so that lines leave aligned; what does not fill a line
    // waits at the front for the next blocks.
    alignas(line_bytes) char stage[stage_bytes];
    char* to = static_cast<char*>(packed);
    const char* from = static_cast<const char*>(base);
    std::size_t before = reinterpret_cast<std::uintptr_t>(to) % line_bytes;  // bytes of the first line not ours
    char* line = to - before;
    std::size_t filled = before;
    while (block_count > 0) {
      const std::size_t n = block_count < room_blocks ? block_count : room_blocks;
      pack(stage + filled, from, block_bytes, stride_bytes, n);
      filled += n * block_bytes;
      from += static_cast<std::ptrdiff_t>(n) * stride_bytes;
      block_count -= n;
      std::size_t sent = 0;
      if (before > 0 && filled >= line_bytes) {
        std::memcpy(line + before, stage + before, line_bytes - before);
        before = 0;
        sent = line_bytes;
      }
      if (before == 0)
        for (; sent + line_bytes <= filled; sent += line_bytes) stream_line(line + sent, stage + sent);
      line += sent;
      filled -= sent;
      std::memcpy(stage, stage + sent, filled < line_bytes ? filled : line_bytes);
    }
    std::memcpy(line + before, stage + before, filled - before);
    _mm_sfence();
    return;
  }
#endif
  pack(packed, base, block_bytes, stride_bytes, block_count);
}

}  // namespace millrace::kernel
