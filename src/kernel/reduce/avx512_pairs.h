// MINLOC and MAXLOC with AVX-512, without a branch that data could mispredict.
//
//   i16_i32   v v . . i i i i               f32_i32   v v v v i i i i              i64_i64   v*8 i*8
//   i32_i32   v v v v i i i i               f32_f32   v v v v i i i i              i64_i32   v*8 i i i i . . . .
//
// Pairs of small integers become one 64-bit key each, value above index, so that one comparison decides. The others
// compare values and indices in place; the decision is made in the lower lane of a pair and copied to the upper one.
#pragma once

#include "kernel/reduce/avx512.h"
#include "kernel/reduce/pairs.h"

namespace millrace::kernel {
namespace {

// ---- keys

template <bool Greater>
struct KeyPairs {
  // The lower index is to win: it counts downwards when the greater key is taken. Either way signed becomes unsigned.
  static __m512i index_order() {
    return _mm512_set1_epi64(Greater ? 0x7fffffff : std::int64_t{0x80000000});
  }
  static __m512i select(__m512i a, __m512i a_key, __m512i b, __m512i b_key) {
    const __mmask8 left = Greater ? _mm512_cmpgt_epi64_mask(a_key, b_key) : _mm512_cmplt_epi64_mask(a_key, b_key);
    return _mm512_mask_blend_epi64(left, b, a);
  }
};

template <bool Greater>
struct PairsI32 : KeyPairs<Greater>, WholeElements<8> {
  static __m512i key(__m512i x) {
    return _mm512_xor_si512(_mm512_ror_epi64(x, 32), KeyPairs<Greater>::index_order());
  }
  static __m512i apply(__m512i a, __m512i b) { return KeyPairs<Greater>::select(a, key(a), b, key(b)); }
};

template <bool Greater>
struct PairsI16 : KeyPairs<Greater> {
  static constexpr std::size_t bytes = 8;
  static constexpr __mmask64 value_bytes = 0xf3f3f3f3f3f3f3f3;
  static __m512i key(__m512i x) {
    // Bytes 4-7 (index) below, bytes 0-1 (value) on top, zeros between.
    const __m512i order = _mm512_broadcast_i32x4(_mm_set_epi64x(0x0908ffff0f0e0d0c, 0x0100ffff07060504));
    return _mm512_xor_si512(_mm512_shuffle_epi8(x, order), KeyPairs<Greater>::index_order());
  }
  static __m512i apply(__m512i a, __m512i b) { return KeyPairs<Greater>::select(a, key(a), b, key(b)); }
};

// ---- values of 4 bytes, f32: lanes of 4 bytes, even ones hold values

template <bool Greater, bool FloatIndex>
struct PairsF32 : WholeElements<8> {
  static constexpr __mmask16 value_lanes = 0x5555;
  static __mmask16 index_less(__mmask16 where, __m512i a, __m512i b) {
    const __m512i ai = _mm512_srli_epi64(a, 32), bi = _mm512_srli_epi64(b, 32);  // to the value's lane
    if constexpr (FloatIndex)
      return _mm512_mask_cmp_ps_mask(where, _mm512_castsi512_ps(ai), _mm512_castsi512_ps(bi), _CMP_LT_OQ);
    else
      return _mm512_mask_cmplt_epi32_mask(where, ai, bi);
  }
  static __m512i apply(__m512i a, __m512i b) {
    const __m512 av = _mm512_castsi512_ps(a), bv = _mm512_castsi512_ps(b);
    const __mmask16 not_better = _mm512_mask_cmp_ps_mask(value_lanes, av, bv, Greater ? _CMP_LE_OQ : _CMP_GE_OQ);
    const __mmask16 not_worse = _mm512_mask_cmp_ps_mask(value_lanes, av, bv, Greater ? _CMP_GE_OQ : _CMP_LE_OQ);
    __mmask16 left = (value_lanes & ~not_better) | index_less(not_worse, a, b);
    if (__builtin_expect((not_better | not_worse) != value_lanes, 0)) left = with_nan(a, b);
    return _mm512_mask_blend_epi32(static_cast<__mmask16>(left | (left << 1)), b, a);
  }
  static __mmask16 with_nan(__m512i a, __m512i b) {
    const __m512 av = _mm512_castsi512_ps(a), bv = _mm512_castsi512_ps(b);
    const __mmask16 a_nan = _mm512_mask_cmp_ps_mask(value_lanes, av, av, _CMP_UNORD_Q);
    const __mmask16 b_nan = _mm512_mask_cmp_ps_mask(value_lanes, bv, bv, _CMP_UNORD_Q);
    const __mmask16 better = _mm512_mask_cmp_ps_mask(value_lanes, av, bv, Greater ? _CMP_GT_OQ : _CMP_LT_OQ);
    const __mmask16 equal = _mm512_mask_cmp_ps_mask(value_lanes, av, bv, _CMP_EQ_OQ);
    return static_cast<__mmask16>(better | (a_nan & ~b_nan) |
                                  index_less(static_cast<__mmask16>(equal | (a_nan & b_nan)), a, b));
  }
};

// ---- values of 8 bytes: lanes of 8 bytes, even ones hold values

enum class Index8 { i32, i64, f64 };

template <bool Greater, bool FloatValue, Index8 index>
struct Pairs8 {
  static constexpr std::size_t bytes = 16;
  static constexpr __mmask64 value_bytes = index == Index8::i32 ? 0x0fff0fff0fff0fff : ~__mmask64{0};
  static constexpr __mmask8 value_lanes = 0x55;

  static __mmask8 index_less(__m512i a, __m512i b) {
    unsigned odd;
    if constexpr (index == Index8::f64)
      odd = _mm512_cmp_pd_mask(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b), _CMP_LT_OQ);
    else if constexpr (index == Index8::i64)
      odd = _mm512_cmplt_epi64_mask(a, b);
    else  // drops the gap above the index
      odd = _mm512_cmplt_epi64_mask(_mm512_slli_epi64(a, 32), _mm512_slli_epi64(b, 32));
    return static_cast<__mmask8>(odd >> 1);
  }
  template <int float_predicate, int integer_predicate>
  static __mmask8 compare(__m512i a, __m512i b) {
    if constexpr (FloatValue)
      return _mm512_mask_cmp_pd_mask(value_lanes, _mm512_castsi512_pd(a), _mm512_castsi512_pd(b), float_predicate);
    else
      return _mm512_mask_cmp_epi64_mask(value_lanes, a, b, integer_predicate);
  }
  static __m512i apply(__m512i a, __m512i b) {
    const __mmask8 not_better = Greater ? compare<_CMP_LE_OQ, _MM_CMPINT_LE>(a, b) : compare<_CMP_GE_OQ, _MM_CMPINT_NLT>(a, b);
    const __mmask8 not_worse = Greater ? compare<_CMP_GE_OQ, _MM_CMPINT_NLT>(a, b) : compare<_CMP_LE_OQ, _MM_CMPINT_LE>(a, b);
    const __mmask8 lower_index = index_less(a, b);
    unsigned left = (value_lanes & ~not_better) | (not_worse & lower_index);
    if constexpr (FloatValue)
      if (__builtin_expect((not_better | not_worse) != value_lanes, 0)) left = with_nan(a, b, lower_index);
    return _mm512_mask_blend_epi64(static_cast<__mmask8>(left | (left << 1)), b, a);
  }
  static unsigned with_nan(__m512i a, __m512i b, __mmask8 lower_index) {
    const unsigned a_nan = compare<_CMP_UNORD_Q, 0>(a, a), b_nan = compare<_CMP_UNORD_Q, 0>(b, b);
    const unsigned better = compare < Greater ? _CMP_GT_OQ : _CMP_LT_OQ, 0 > (a, b);
    const unsigned equal = compare<_CMP_EQ_OQ, 0>(a, b);
    return better | (a_nan & ~b_nan) | ((equal | (a_nan & b_nan)) & lower_index);
  }
};

template <bool Greater>
struct Loop<Location<std::int16_t, std::int32_t, Greater>> {
  using type = Vectorwise<PairsI16<Greater>>;
};
template <bool Greater>
struct Loop<Location<std::int32_t, std::int32_t, Greater>> {
  using type = Vectorwise<PairsI32<Greater>>;
};
template <bool Greater>
struct Loop<Location<float, std::int32_t, Greater>> {
  using type = Vectorwise<PairsF32<Greater, false>>;
};
template <bool Greater>
struct Loop<Location<float, float, Greater>> {
  using type = Vectorwise<PairsF32<Greater, true>>;
};
template <bool Greater>
struct Loop<Location<std::int64_t, std::int32_t, Greater>> {
  using type = Vectorwise<Pairs8<Greater, false, Index8::i32>>;
};
template <bool Greater>
struct Loop<Location<std::int64_t, std::int64_t, Greater>> {
  using type = Vectorwise<Pairs8<Greater, false, Index8::i64>>;
};
template <bool Greater>
struct Loop<Location<double, std::int32_t, Greater>> {
  using type = Vectorwise<Pairs8<Greater, true, Index8::i32>>;
};
template <bool Greater>
struct Loop<Location<double, double, Greater>> {
  using type = Vectorwise<Pairs8<Greater, true, Index8::f64>>;
};

}  // namespace
}  // namespace millrace::kernel
