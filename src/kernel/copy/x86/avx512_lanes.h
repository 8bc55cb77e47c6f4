// Vectors of 64 bytes as lanes of 4, 2 or 1 bytes: the smallest that divides blocks and strides is shuffled slowest.
#pragma once

#include <immintrin.h>

#include "kernel/copy/generic/moves.h"

namespace millrace::kernel {
namespace {

inline __mmask64 first_bytes(std::ptrdiff_t count) {
  if (count <= 0) return 0;
  return count >= 64 ? ~__mmask64{0} : ~__mmask64{0} >> (64 - count);
}

template <std::size_t Bytes>
struct Lanes;

template <>
struct Lanes<4> {
  static constexpr int count = 16;
  using Mask = __mmask16;
  // 32-bit lane numbers (`count` / 16 vectors of them) as an operand of the shuffles
  static __m512i narrow(const __m512i* numbers) { return numbers[0]; }
  static Mask below(const __m512i index, int limit) { return _mm512_cmplt_epi32_mask(index, _mm512_set1_epi32(limit)); }
  static __m512i pick(__m512i index, __m512i a) { return _mm512_permutexvar_epi32(index, a); }
  static __m512i pick(__m512i index, __m512i a, __m512i b) { return _mm512_permutex2var_epi32(a, index, b); }
  static __m512i blend(Mask second, __m512i a, __m512i b) { return _mm512_mask_blend_epi32(second, a, b); }
  // a, where not of `second`, else those of b.
  static __m512i blend_pick(__m512i a, Mask second, __m512i index, __m512i b) {
    return _mm512_mask_permutexvar_epi32(a, second, index, b);
  }
  static __m512i add(__m512i index, int lanes) { return _mm512_add_epi32(index, _mm512_set1_epi32(lanes)); }
  static __m512i sum(__m512i a, __m512i b) { return _mm512_add_epi32(a, b); }
  // `count` lane numbers from memory, a byte each.
  static __m512i widen(const unsigned char* lanes) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i_u*>(static_cast<const void*>(lanes))));
  }
  static void store(char* to, Mask mask, __m512i value) { _mm512_mask_storeu_epi32(to, mask, value); }
};

template <>
struct Lanes<2> {
  static constexpr int count = 32;
  using Mask = __mmask32;
  static __m512i narrow(const __m512i* numbers) {
    const __m256i low = _mm512_cvtepi32_epi16(numbers[0]), high = _mm512_cvtepi32_epi16(numbers[1]);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }
  static Mask below(const __m512i index, int limit) {
    return _mm512_cmplt_epi16_mask(index, _mm512_set1_epi16(static_cast<short>(limit)));
  }
  static __m512i pick(__m512i index, __m512i a) { return _mm512_permutexvar_epi16(index, a); }
  static __m512i pick(__m512i index, __m512i a, __m512i b) { return _mm512_permutex2var_epi16(a, index, b); }
  static __m512i blend(Mask second, __m512i a, __m512i b) { return _mm512_mask_blend_epi16(second, a, b); }
  // a, where not of `second`, else those of b.
  static __m512i blend_pick(__m512i a, Mask second, __m512i index, __m512i b) {
    return _mm512_mask_permutexvar_epi16(a, second, index, b);
  }
  static __m512i add(__m512i index, int lanes) {
    return _mm512_add_epi16(index, _mm512_set1_epi16(static_cast<short>(lanes)));
  }
  static __m512i sum(__m512i a, __m512i b) { return _mm512_add_epi16(a, b); }
  // `count` lane numbers from memory, a byte each.
  static __m512i widen(const unsigned char* lanes) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256(static_cast<const __m256i_u*>(static_cast<const void*>(lanes))));
  }
  static void store(char* to, Mask mask, __m512i value) { _mm512_mask_storeu_epi16(to, mask, value); }
};

#if defined(__AVX512VBMI__)
template <>
struct Lanes<1> {
  static constexpr int count = 64;
  using Mask = __mmask64;
  static __m512i narrow(const __m512i* numbers) {
    __m512i bytes = _mm512_castsi128_si512(_mm512_cvtepi32_epi8(numbers[0]));
    bytes = _mm512_inserti32x4(bytes, _mm512_cvtepi32_epi8(numbers[1]), 1);
    bytes = _mm512_inserti32x4(bytes, _mm512_cvtepi32_epi8(numbers[2]), 2);
    return _mm512_inserti32x4(bytes, _mm512_cvtepi32_epi8(numbers[3]), 3);
  }
  static Mask below(const __m512i index, int limit) {
    return limit > 255 ? ~Mask{0} : _mm512_cmplt_epu8_mask(index, _mm512_set1_epi8(static_cast<char>(limit)));
  }
  static __m512i pick(__m512i index, __m512i a) { return _mm512_permutexvar_epi8(index, a); }
  static __m512i pick(__m512i index, __m512i a, __m512i b) { return _mm512_permutex2var_epi8(a, index, b); }
  static __m512i blend(Mask second, __m512i a, __m512i b) { return _mm512_mask_blend_epi8(second, a, b); }
  // a, where not of `second`, else those of b.
  static __m512i blend_pick(__m512i a, Mask second, __m512i index, __m512i b) {
    return _mm512_mask_permutexvar_epi8(a, second, index, b);
  }
  static __m512i add(__m512i index, int lanes) {
    return _mm512_add_epi8(index, _mm512_set1_epi8(static_cast<char>(lanes)));
  }
  static __m512i sum(__m512i a, __m512i b) { return _mm512_add_epi8(a, b); }
  // `count` lane numbers from memory, a byte each.
  static __m512i widen(const unsigned char* lanes) { return _mm512_loadu_si512(lanes); }
  static void store(char* to, Mask mask, __m512i value) { _mm512_mask_storeu_epi8(to, mask, value); }
};
#endif

}  // namespace
}  // namespace millrace::kernel
