// AVX-512 by hand: what the compiler leaves slow. A whole vector or a masked one goes through the same expression.
#pragma once

#include <immintrin.h>

#include "kernel/reduce/generic/loops.h"
#include "kernel/reduce/generic/ops.h"

namespace millrace::kernel {
namespace {

// The bytes of a vector that may be stored, in lanes of 4 bytes if they allow it: that mask costs nothing.
template <class F>
void store(char* to, __m512i vector) {
  constexpr __mmask64 gapless = ~__mmask64{0};
  if constexpr (F::value_bytes == gapless)
    _mm512_storeu_si512(to, vector);
  else if constexpr (F::value_bytes == 0x0fff0fff0fff0fff)
    _mm512_mask_storeu_epi32(to, 0x7777, vector);
  else
    _mm512_mask_storeu_epi8(to, F::value_bytes, vector);
}

// F::apply(a, b) on 64 bytes; F::value_bytes are those that may be stored, F::bytes one element. F may have more, for
// speed: apply_memory, apply_memories, and fold_two(to, a, b), which does two vectors of two inputs at once;
// F::loaded_from, a limit of loop_limits from which on operands are loaded once, by instructions of their own;
// F::apply_half(a, b) on 32 bytes, for the longest arrays of some processors; and F::Two, two vectors in another order,
// with two(a, next a), combine(accumulated, Two), which says false where apply() has to do it, and store_two(to,
// accumulated): for what is loaded so, and for more than two inputs.
template <class F, bool reads_once = false>
struct Vectorwise {
  static constexpr std::size_t bytes = F::bytes;
  static constexpr bool is_short = true;

  // A vector that straddles two cache lines costs two accesses: calls of this many bytes keep to the lines of the
  // output.
  static constexpr std::size_t aligned_from_bytes = 1024;

  static __m512i load(const void* buffer, std::size_t at) {
    __m512i vector = _mm512_loadu_si512(static_cast<const char*>(buffer) + at);
    if constexpr (reads_once) asm("" : "+v"(vector));  // or the compiler folds it into each of its uses
    return vector;
  }
  static __m512i load(const void* buffer, std::size_t at, __mmask64 mask) {
    return _mm512_maskz_loadu_epi8(mask, static_cast<const char*>(buffer) + at);
  }

  // Some operands are better shuffled by the load than in a register.
  static __m512i combine(__m512i accumulated, const void* buffer, std::size_t at) {
    if constexpr (!reads_once && requires { F::apply_memory(accumulated, buffer); })
      return F::apply_memory(accumulated, static_cast<const char*>(buffer) + at);
    else
      return F::apply(accumulated, load(buffer, at));
  }

  static __m512i fold_vector(std::size_t at, const void* first) { return load(first, at); }
  template <class... Rest>
  static __m512i fold_vector(std::size_t at, const void* first, const void* second, const Rest*... rest) {
    __m512i accumulated;
    if constexpr (!reads_once && requires { F::apply_memories(first, second); })
      accumulated = F::apply_memories(static_cast<const char*>(first) + at, static_cast<const char*>(second) + at);
    else
      accumulated = combine(load(first, at), second, at);
    ((accumulated = combine(accumulated, rest, at)), ...);
    return accumulated;
  }

  template <class... Rest>
  __attribute__((always_inline, flatten)) static inline void fold(void* out, std::size_t n, const void* first,
                                                                  const Rest*... rest) {
    const std::size_t size_bytes = n * bytes;
    char* const to = static_cast<char*>(out);
    if (size_bytes < 64) {
      if (size_bytes == 0) return;
      const __mmask64 mask = ~__mmask64{0} >> (64 - size_bytes);
      __m512i accumulated = load(first, 0, mask);
      ((accumulated = F::apply(accumulated, load(rest, 0, mask))), ...);
      return _mm512_mask_storeu_epi8(to, mask & F::value_bytes, accumulated);
    }
    const auto whole_vector = [=](std::size_t at) { store<F>(to + at, fold_vector(at, first, rest...)); };
    if (size_bytes == 64) return whole_vector(0);
    // The first vector and the last one are computed before anything is stored and stored after everything else, so
    // that those between may overlap them.
    const std::size_t last = size_bytes - 64;
    const __m512i first_vector = fold_vector(0, first, rest...), last_vector = fold_vector(last, first, rest...);
    const std::size_t in_line = reinterpret_cast<std::uintptr_t>(out) % 64;
    std::size_t at = size_bytes >= aligned_from_bytes && in_line % bytes == 0 ? 64 - in_line : 64;
    for (; at + 64 < last; at += 128) {
      if constexpr (requires { typename F::Two; } && (reads_once ? sizeof...(rest) > 0 : sizeof...(rest) > 1)) {
        typename F::Two accumulated = F::two(load(first, at), load(first, at + 64));
        if (__builtin_expect((F::combine(accumulated, F::two(load(rest, at), load(rest, at + 64))) && ...), 1)) {
          F::store_two(to + at, accumulated);
        } else {
          whole_vector(at);
          whole_vector(at + 64);
        }
      } else if constexpr (sizeof...(rest) == 1 && requires { F::fold_two(to, to, to); }) {
        F::fold_two(to + at, static_cast<const char*>(first) + at, (static_cast<const char*>(rest) + at)...);
      } else {
        whole_vector(at);
        whole_vector(at + 64);
      }
    }
    if (at < last) whole_vector(at);
    store<F>(to, first_vector);
    store<F>(to + last, last_vector);
  }
};

// F::apply_half(a, b) on 32 bytes, between first and last vectors as above.
template <class F>
struct Halfwise {
  static constexpr std::size_t bytes = F::bytes;
  static constexpr bool two_inputs_only = true;

  static __m256i load(const void* buffer, std::size_t at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(static_cast<const char*>(buffer) + at));
  }
  static void fold(void* out, std::size_t n, const void* left, const void* right) {
    const std::size_t size_bytes = n * bytes;
    if (size_bytes < 128) return Vectorwise<F>::fold(out, n, left, right);
    char* const to = static_cast<char*>(out);
    const std::size_t last = size_bytes - 64, in_line = reinterpret_cast<std::uintptr_t>(out) % 64;
    const __m512i first_vector = Vectorwise<F>::fold_vector(0, left, right);
    const __m512i last_vector = Vectorwise<F>::fold_vector(last, left, right);
    const auto half = [=](std::size_t at) {
      const __m256i result = F::apply_half(load(left, at), load(right, at));
      _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(to + at), result);
    };
    std::size_t at = in_line % bytes == 0 ? 64 - in_line : 64;
    // One half at a time would gain nothing.
    for (; at + 96 < last; at += 128) {
      half(at);
      half(at + 32);
      half(at + 64);
      half(at + 96);
    }
    for (; at < last; at += 32) half(at);
    store<F>(to, first_vector);
    store<F>(to + last, last_vector);
  }
};
template <class F>
  requires requires(__m256i x) { F::apply_half(x, x); }
struct ForLongArrays<Vectorwise<F>> {
  using type = Halfwise<F>;
  static std::size_t from_bytes() { return __atomic_load_n(&loop_limits.halves, __ATOMIC_RELAXED); }
};

template <class F>
  requires requires { F::loaded_from; }
struct ForLongArrays<Vectorwise<F>> {
  using type = Vectorwise<F, true>;
  static std::size_t from_bytes() { return __atomic_load_n(&(loop_limits.*F::loaded_from), __ATOMIC_RELAXED); }
};

template <std::size_t ElementBytes>
struct WholeElements {
  static constexpr std::size_t bytes = ElementBytes;
  static constexpr __mmask64 value_bytes = ~__mmask64{0};
};

// An instruction with a mask that reads from memory waits for the mask, and so for the operands before it: beyond the
// caches of a core their misses come one after the other, and MAX of double, five arrays of 8 MB, took 1.5 times as
// long on Zen 5. Within the caches it saves an instruction, up to a tenth of the time: hence loads_apart.

// VMAXPS gives b if either is NaN; masked by "a is not NaN" it gives what Max<float> does in two instructions.
template <bool Greater>
struct ExtremeF32 : WholeElements<4> {
  static constexpr auto loaded_from = &LoopLimits::loads_apart;
  static __m512i apply(__m512i left, __m512i right) {
    const __m512 a = _mm512_castsi512_ps(left), b = _mm512_castsi512_ps(right);
    const __mmask16 number = _mm512_cmp_ps_mask(a, a, _CMP_ORD_Q);
    return _mm512_castps_si512(Greater ? _mm512_mask_max_ps(a, number, a, b) : _mm512_mask_min_ps(a, number, a, b));
  }
};
template <bool Greater>
struct ExtremeF64 : WholeElements<8> {
  static constexpr auto loaded_from = &LoopLimits::loads_apart;
  static __m512i apply(__m512i left, __m512i right) {
    const __m512d a = _mm512_castsi512_pd(left), b = _mm512_castsi512_pd(right);
    const __mmask8 number = _mm512_cmp_pd_mask(a, a, _CMP_ORD_Q);
    return _mm512_castpd_si512(Greater ? _mm512_mask_max_pd(a, number, a, b) : _mm512_mask_min_pd(a, number, a, b));
  }
};

// (a.re * b.re - a.im * b.im, a.im * b.re + a.re * b.im). The last step multiplies by one, which is exact, for the sake
// of its alternating signs: every product is rounded by itself. (GCC 12 would fuse, whatever -ffp-contract says.)
inline __m512 complex_product(__m512 a, __m512 b_re, __m512 b_im) {
  const __m512 by_im = _mm512_mul_ps(_mm512_permute_ps(a, 0xb1), b_im);
  return _mm512_fmaddsub_ps(_mm512_mul_ps(a, b_re), _mm512_set1_ps(1), by_im);
}
inline __m512d complex_product(__m512d a, __m512d b_re, __m512d b_im) {
  const __m512d by_im = _mm512_mul_pd(_mm512_permute_pd(a, 0x55), b_im);
  return _mm512_fmaddsub_pd(_mm512_mul_pd(a, b_re), _mm512_set1_pd(1), by_im);
}
inline __m512 complex_product(__m512 a, __m512 b) {
  return complex_product(a, _mm512_moveldup_ps(b), _mm512_movehdup_ps(b));
}

// The same address, of which the compiler does not know it: a load from there does not reuse an earlier one, since a
// shuffle of memory costs no shuffle unit. (Nor must it believe that memory has changed: then it reads everything else
// anew as well, pointers first, and a product of 16 KiB of double complex took 250 ns in place of 120 on Zen 5.)
template <class T>
const T* elsewhere(const T* same) {
  asm("" : "+r"(same));
  return same;
}

// Where lines come from further away, a second read of one costs more than a shuffle: arrays of 10 MB that lie in their
// lines each in another way took 1.2 times as long on Zen 5, such of 160 KB 1.8 times.
struct ProdC32 : WholeElements<8> {
  static constexpr auto loaded_from = &LoopLimits::reads_once;
  static __m512i apply(__m512i a, __m512i b) {
    asm("" : "+v"(a), "+v"(b));
    return _mm512_castps_si512(complex_product(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)));
  }
  static __m512i apply_memory(__m512i a, const void* b) {
    const void* const again = elsewhere(b);
    const __m512 b_re = _mm512_moveldup_ps(_mm512_loadu_ps(again));
    const __m512 b_im = _mm512_movehdup_ps(_mm512_loadu_ps(elsewhere(again)));
    return _mm512_castps_si512(complex_product(_mm512_castsi512_ps(a), b_re, b_im));
  }
};
struct ProdC64 : WholeElements<16> {
  static constexpr auto loaded_from = &LoopLimits::reads_once;
  static __m512i apply(__m512i a, __m512i right) {
    asm("" : "+v"(a), "+v"(right));
    const __m512d b = _mm512_castsi512_pd(right);
    return _mm512_castpd_si512(
        complex_product(_mm512_castsi512_pd(a), _mm512_movedup_pd(b), _mm512_permute_pd(b, 0xff)));
  }
  static __m512i apply_memory(__m512i a, const void* b) {
    const __m512d b_re = _mm512_movedup_pd(_mm512_loadu_pd(b));
    const __m512d b_im = _mm512_permute_pd(_mm512_loadu_pd(elsewhere(b)), 0xff);
    return _mm512_castpd_si512(complex_product(_mm512_castsi512_pd(a), b_re, b_im));
  }
};

struct AddF32 {
  static __m512 apply(__m512 a, __m512 b) { return _mm512_add_ps(a, b); }
};
struct MultiplyF32 {
  static __m512 apply(__m512 a, __m512 b) { return _mm512_mul_ps(a, b); }
};
struct MultiplyC32 {
  static __m512 apply(__m512 a, __m512 b) { return complex_product(a, b); }
};

// 32 binary16 numbers as two vectors of f32.
template <class InF32, std::size_t ElementBytes>
struct InF16 : WholeElements<ElementBytes> {
  static __m256i half(__m256i a, __m256i b) {
    return _mm512_cvtps_ph(InF32::apply(_mm512_cvtph_ps(a), _mm512_cvtph_ps(b)),
                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  static __m512i apply(__m512i a, __m512i b) {
    const __m256i low = half(_mm512_castsi512_si256(a), _mm512_castsi512_si256(b));
    const __m256i high = half(_mm512_extracti64x4_epi64(a, 1), _mm512_extracti64x4_epi64(b, 1));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }
};

// bfloat16: the odd ones of a vector are f32 numbers already but for the lower halves.
template <class InF32>
struct InBF16 : WholeElements<2> {
  // The rounded result in the upper half of each lane, anything in the lower.
  static __m512i rounded(__m512i a, __m512i b) {
    const __m512 value = InF32::apply(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b));
    const __m512i bits = _mm512_castps_si512(value);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i up = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __mmask16 nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    return _mm512_mask_or_epi32(up, nan, bits, _mm512_set1_epi32(0x400000));
  }
  static __m512i apply(__m512i a, __m512i b) {
    const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
    const __m512i odd = rounded(_mm512_and_si512(a, upper), _mm512_and_si512(b, upper));
    const __m512i even = rounded(_mm512_slli_epi32(a, 16), _mm512_slli_epi32(b, 16));
    return _mm512_mask_blend_epi16(0xaaaaaaaau, _mm512_srli_epi32(even, 16), odd);
  }
};

template <>
struct Loop<Max<float>> {
  using type = Vectorwise<ExtremeF32<true>>;
};
template <>
struct Loop<Min<float>> {
  using type = Vectorwise<ExtremeF32<false>>;
};
template <>
struct Loop<Max<double>> {
  using type = Vectorwise<ExtremeF64<true>>;
};
template <>
struct Loop<Min<double>> {
  using type = Vectorwise<ExtremeF64<false>>;
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
  using type = Vectorwise<InF16<AddF32, 2>>;
};
template <>
struct Loop<Arithmetic16<F16, Op::prod>> {
  using type = Vectorwise<InF16<MultiplyF32, 2>>;
};
template <>
struct Loop<ComplexProd16<F16>> {
  using type = Vectorwise<InF16<MultiplyC32, 4>>;
};
template <>
struct Loop<Arithmetic16<BF16, Op::sum>> {
  using type = Vectorwise<InBF16<AddF32>>;
};
template <>
struct Loop<Arithmetic16<BF16, Op::prod>> {
  using type = Vectorwise<InBF16<MultiplyF32>>;
};

}  // namespace
}  // namespace millrace::kernel
