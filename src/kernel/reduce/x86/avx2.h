// AVX2 and F16C by hand: what the compiler leaves slow.
#pragma once

#include <immintrin.h>

#include "kernel/reduce/generic/loops.h"
#include "kernel/reduce/generic/ops.h"

namespace millrace::kernel {
namespace {

// F::apply(a, b) on 32 bytes, F::store; fewer bytes at the end go through the loop class F::Tail.
template <class F>
struct Vectorwise {
  static constexpr std::size_t bytes = F::Tail::bytes;

  static __m256i load(const void* buffer, std::size_t at) {
    return _mm256_loadu_si256(
        static_cast<const __m256i_u*>(static_cast<const void*>(static_cast<const char*>(buffer) + at)));
  }

  template <class... Rest>
  __attribute__((flatten)) static void fold(void* out, std::size_t n, const void* first, const Rest*... rest) {
    const std::size_t size_bytes = n * bytes;
    char* const to = static_cast<char*>(out);
    const auto whole_vector = [=](std::size_t at) {
      __m256i accumulated = load(first, at);
      ((accumulated = F::apply(accumulated, load(rest, at))), ...);
      F::store(to + at, accumulated);
    };
    std::size_t at = 0;
    for (; at + 64 <= size_bytes; at += 64) {
      whole_vector(at);
      whole_vector(at + 32);
    }
    if (at + 32 <= size_bytes) {
      whole_vector(at);
      at += 32;
    }
    if (at == size_bytes) return;
    const auto from = [at](const void* buffer) -> const void* { return static_cast<const char*>(buffer) + at; };
    F::Tail::fold(to + at, (size_bytes - at) / bytes, from(first), from(rest)...);
  }
};

// The generic loop, one element at a time: the compiler must not make a second vector loop of a tail.
template <class F>
struct Tail {
  using Element = typename F::Element;
  static constexpr std::size_t bytes = sizeof(Element);

  template <class... Rest>
  static void fold(void* out, std::size_t n, const void* first, const Rest*... rest) {
    for (std::size_t i = 0; i < n; ++i) {
      asm volatile("");
      Element accumulated = cells<Element>(first)[i].value;
      ((accumulated = F::apply(accumulated, cells<Element>(rest)[i].value)), ...);
      cells<Element>(out)[i].value = accumulated;
    }
  }
};

struct StoreAll {
  static void store(char* to, __m256i value) {
    _mm256_storeu_si256(static_cast<__m256i_u*>(static_cast<void*>(to)), value);
  }
};

// F::apply in the vector, Generic's expression in the tail.
template <class Generic>
struct With : StoreAll {
  using Tail = kernel::Tail<Generic>;
};

// VMAXPS gives b if either is NaN; a NaN in a is put back.
template <bool Greater, class Generic>
struct ExtremeF32 : With<Generic> {
  static __m256i apply(__m256i left, __m256i right) {
    const __m256 a = _mm256_castsi256_ps(left), b = _mm256_castsi256_ps(right);
    const __m256 extreme = Greater ? _mm256_max_ps(a, b) : _mm256_min_ps(a, b);
    return _mm256_castps_si256(_mm256_blendv_ps(extreme, a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q)));
  }
};
template <bool Greater, class Generic>
struct ExtremeF64 : With<Generic> {
  static __m256i apply(__m256i left, __m256i right) {
    const __m256d a = _mm256_castsi256_pd(left), b = _mm256_castsi256_pd(right);
    const __m256d extreme = Greater ? _mm256_max_pd(a, b) : _mm256_min_pd(a, b);
    return _mm256_castpd_si256(_mm256_blendv_pd(extreme, a, _mm256_cmp_pd(a, a, _CMP_UNORD_Q)));
  }
};

// (a.re * b.re - a.im * b.im, a.im * b.re + a.re * b.im)
inline __m256 complex_product(__m256 a, __m256 b) {
  return _mm256_addsub_ps(_mm256_mul_ps(a, _mm256_moveldup_ps(b)),
                          _mm256_mul_ps(_mm256_permute_ps(a, 0xb1), _mm256_movehdup_ps(b)));
}
struct ProdC32 : With<ComplexProd<float>> {
  static __m256i apply(__m256i a, __m256i b) {
    return _mm256_castps_si256(complex_product(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
  }
};
struct ProdC64 : With<ComplexProd<double>> {
  static __m256i apply(__m256i left, __m256i right) {
    const __m256d a = _mm256_castsi256_pd(left), b = _mm256_castsi256_pd(right);
    return _mm256_castpd_si256(_mm256_addsub_pd(_mm256_mul_pd(a, _mm256_movedup_pd(b)),
                                                _mm256_mul_pd(_mm256_permute_pd(a, 5), _mm256_permute_pd(b, 15))));
  }
};

struct AddF32 {
  static __m256 apply(__m256 a, __m256 b) { return _mm256_add_ps(a, b); }
};
struct MultiplyF32 {
  static __m256 apply(__m256 a, __m256 b) { return _mm256_mul_ps(a, b); }
};
struct MultiplyC32 {
  static __m256 apply(__m256 a, __m256 b) { return complex_product(a, b); }
};

// 16 binary16 numbers as two vectors of f32.
template <class InF32, class Generic>
struct InF16 : With<Generic> {
  static __m128i half(__m128i a, __m128i b) {
    return _mm256_cvtps_ph(InF32::apply(_mm256_cvtph_ps(a), _mm256_cvtph_ps(b)),
                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  static __m256i apply(__m256i a, __m256i b) {
    const __m128i low = half(_mm256_castsi256_si128(a), _mm256_castsi256_si128(b));
    const __m128i high = half(_mm256_extracti128_si256(a, 1), _mm256_extracti128_si256(b, 1));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
  }
};

// bfloat16: the odd ones of a vector are f32 numbers already but for the lower halves.
template <class InF32, class Generic>
struct InBF16 : With<Generic> {
  // The rounded result in the upper half of each lane, anything in the lower.
  static __m256i rounded(__m256i a, __m256i b) {
    const __m256 value = InF32::apply(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i up = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256 nan = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
    return _mm256_blendv_epi8(up, quiet, _mm256_castps_si256(nan));
  }
  static __m256i apply(__m256i a, __m256i b) {
    const __m256i upper = _mm256_set1_epi32(static_cast<int>(0xffff0000u));
    const __m256i odd = rounded(_mm256_and_si256(a, upper), _mm256_and_si256(b, upper));
    const __m256i even = rounded(_mm256_slli_epi32(a, 16), _mm256_slli_epi32(b, 16));
    return _mm256_blend_epi16(_mm256_srli_epi32(even, 16), odd, 0xaa);
  }
};

template <>
struct Loop<Max<float>> {
  using type = Vectorwise<ExtremeF32<true, Max<float>>>;
};
template <>
struct Loop<Min<float>> {
  using type = Vectorwise<ExtremeF32<false, Min<float>>>;
};
template <>
struct Loop<Max<double>> {
  using type = Vectorwise<ExtremeF64<true, Max<double>>>;
};
template <>
struct Loop<Min<double>> {
  using type = Vectorwise<ExtremeF64<false, Min<double>>>;
};
template <>
struct Loop<ComplexProd<float>> {
  using type = Vectorwise<ProdC32>;
};
template <>
struct Loop<ComplexProd<double>> {
  using type = Vectorwise<ProdC64>;
};
template <>
struct Loop<Arithmetic16<F16, Op::sum>> {
  using type = Vectorwise<InF16<AddF32, Arithmetic16<F16, Op::sum>>>;
};
template <>
struct Loop<Arithmetic16<F16, Op::prod>> {
  using type = Vectorwise<InF16<MultiplyF32, Arithmetic16<F16, Op::prod>>>;
};
template <>
struct Loop<ComplexProd16<F16>> {
  using type = Vectorwise<InF16<MultiplyC32, ComplexProd16<F16>>>;
};
template <>
struct Loop<Arithmetic16<BF16, Op::sum>> {
  using type = Vectorwise<InBF16<AddF32, Arithmetic16<BF16, Op::sum>>>;
};
template <>
struct Loop<Arithmetic16<BF16, Op::prod>> {
  using type = Vectorwise<InBF16<MultiplyF32, Arithmetic16<BF16, Op::prod>>>;
};

}  // namespace
}  // namespace millrace::kernel
