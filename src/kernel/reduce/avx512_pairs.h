// MINLOC and MAXLOC with AVX-512, without a branch that data could mispredict.
//
//   i16_i32   v v . . i i i i               f32_i32   v v v v i i i i              i64_i64   v*8 i*8
//   i32_i32   v v v v i i i i               f32_f32   v v v v i i i i              i64_i32   v*8 i i i i . . . .
//
// Pairs of small integers become one 64-bit key each, value above index, so that one comparison decides. The others
// compare values and indices in both lanes of a pair.
#pragma once

#include "kernel/reduce/avx512.h"
#include "kernel/reduce/pairs.h"

namespace millrace::kernel {
namespace {

// ---- keys

template <bool Greater>
struct KeyPairs {
  // The lower index is to win: it counts downwards when the greater key is taken. Either way signed becomes unsigned.
  static __m512i index_order() { return _mm512_set1_epi64(Greater ? 0x7fffffff : std::int64_t{0x80000000}); }
  static __m512i select(__m512i a, __m512i a_key, __m512i b, __m512i b_key) {
    const __mmask8 left = Greater ? _mm512_cmpgt_epi64_mask(a_key, b_key) : _mm512_cmplt_epi64_mask(a_key, b_key);
    return _mm512_mask_blend_epi64(left, b, a);
  }
};

template <bool Greater>
struct PairsI32 : KeyPairs<Greater>, WholeElements<8> {
  static __m512i key(__m512i x) { return _mm512_xor_si512(_mm512_ror_epi64(x, 32), KeyPairs<Greater>::index_order()); }
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

// ---- values of 4 bytes, f32: lanes of 4 bytes, value and index copied to both lanes of a pair, by the load where it
// can

template <bool Greater, bool FloatIndex>
struct PairsF32 : WholeElements<8> {
  struct Operand {
    __m512i pair;
    __m512 value, index;
  };
  static Operand in_register(__m512i x) {
    return {x, _mm512_moveldup_ps(_mm512_castsi512_ps(x)), _mm512_movehdup_ps(_mm512_castsi512_ps(x))};
  }
  static Operand in_memory(const void* at) {
    const __m512 value = _mm512_moveldup_ps(_mm512_loadu_ps(at));
    forget_loads();
    const __m512 index = _mm512_movehdup_ps(_mm512_loadu_ps(at));
    forget_loads();
    return {_mm512_loadu_si512(at), value, index};
  }
  static __m512i apply(__m512i a, __m512i b) { return choose(in_register(a), in_register(b)); }
  static __m512i apply_memory(__m512i a, const void* b) { return choose(in_register(a), in_memory(b)); }
  static __m512i apply_memories(const void* a, const void* b) { return choose(in_memory(a), in_memory(b)); }

  static __mmask16 index_less(__mmask16 where, const Operand& a, const Operand& b) {
    if constexpr (FloatIndex)
      return _mm512_mask_cmp_ps_mask(where, a.index, b.index, _CMP_LT_OQ);
    else
      return _mm512_mask_cmplt_epi32_mask(where, _mm512_castps_si512(a.index), _mm512_castps_si512(b.index));
  }
  static __m512i choose(const Operand& a, const Operand& b) {
    const __mmask16 not_better = _mm512_cmp_ps_mask(a.value, b.value, Greater ? _CMP_LE_OQ : _CMP_GE_OQ);
    const __mmask16 not_worse = _mm512_cmp_ps_mask(a.value, b.value, Greater ? _CMP_GE_OQ : _CMP_LE_OQ);
    if (__builtin_expect(!_kortestc_mask16_u8(not_better, not_worse), 0)) return with_nan(a, b);
    const __mmask16 left_of_tie = index_less(not_worse, a, b);
    // b where a is not better, but a where the values tie and its index is lower.
    return _mm512_mask_mov_epi32(_mm512_mask_mov_epi32(a.pair, not_better, b.pair), left_of_tie, a.pair);
  }
  static __m512i with_nan(const Operand& a, const Operand& b) {
    const unsigned a_nan = _mm512_cmp_ps_mask(a.value, a.value, _CMP_UNORD_Q);
    const unsigned b_nan = _mm512_cmp_ps_mask(b.value, b.value, _CMP_UNORD_Q);
    const unsigned better = _mm512_cmp_ps_mask(a.value, b.value, Greater ? _CMP_GT_OQ : _CMP_LT_OQ);
    const unsigned tie = _mm512_cmp_ps_mask(a.value, b.value, _CMP_EQ_OQ) | (a_nan & b_nan);
    const unsigned left = better | (a_nan & ~b_nan) | index_less(static_cast<__mmask16>(tie), a, b);
    return _mm512_mask_mov_epi32(b.pair, static_cast<__mmask16>(left), a.pair);
  }
};

// ---- values of 8 bytes: lanes of 8 bytes, the value copied to both lanes of its pair (by the load, where it can)

enum class Index8 { i32, i64, f64 };

template <bool Greater, bool FloatValue, Index8 index>
struct Pairs8 {
  static constexpr std::size_t bytes = 16;
  static constexpr __mmask64 value_bytes = index == Index8::i32 ? 0x0fff0fff0fff0fff : ~__mmask64{0};

  static __m512i value_of(__m512i x) { return _mm512_castpd_si512(_mm512_movedup_pd(_mm512_castsi512_pd(x))); }
  // Both lanes of the pairs in `where` whose index is lower in a. Indices of 4 bytes stand next to a gap: they are
  // copied to all four places of the pair, and two of them in a lane order as one does. Those of 8 bytes are compared
  // where they are, in the odd lanes.
  static __mmask8 index_less(__mmask8 where, __m512i a, __m512i b) {
    if constexpr (index == Index8::i32) {
      constexpr auto index_place = static_cast<_MM_PERM_ENUM>(0xaa);
      return _mm512_mask_cmplt_epi64_mask(where, _mm512_shuffle_epi32(a, index_place),
                                          _mm512_shuffle_epi32(b, index_place));
    } else {
      const __mmask8 odd_lanes = _kand_mask8(where, 0xaa);
      const __mmask8 odd = index == Index8::i64 ? _mm512_mask_cmplt_epi64_mask(odd_lanes, a, b)
                                                : _mm512_mask_cmp_pd_mask(odd_lanes, _mm512_castsi512_pd(a),
                                                                          _mm512_castsi512_pd(b), _CMP_LT_OQ);
      return _kor_mask8(odd, _kshiftri_mask8(odd, 1));
    }
  }
  template <int float_predicate, int integer_predicate>
  static __mmask8 compare(__m512i a, __m512i b) {
    if constexpr (FloatValue)
      return _mm512_cmp_pd_mask(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b), float_predicate);
    else
      return _mm512_cmp_epi64_mask(a, b, integer_predicate);
  }
  static __m512i choose(__m512i a, __m512i a_value, __m512i b, __m512i b_value) {
    const __mmask8 not_better = Greater ? compare<_CMP_LE_OQ, _MM_CMPINT_LE>(a_value, b_value)
                                        : compare<_CMP_GE_OQ, _MM_CMPINT_NLT>(a_value, b_value);
    const __mmask8 not_worse = Greater ? compare<_CMP_GE_OQ, _MM_CMPINT_NLT>(a_value, b_value)
                                       : compare<_CMP_LE_OQ, _MM_CMPINT_LE>(a_value, b_value);
    if constexpr (FloatValue)
      if (__builtin_expect(!_kortestc_mask8_u8(not_better, not_worse), 0)) return with_nan(a, a_value, b, b_value);
    const __mmask8 left_of_tie = index_less(not_worse, a, b);
    // b where a is not better, but a where the values tie and its index is lower.
    return _mm512_mask_mov_epi64(_mm512_mask_mov_epi64(a, not_better, b), left_of_tie, a);
  }
  static __m512i with_nan(__m512i a, __m512i a_value, __m512i b, __m512i b_value) {
    const unsigned a_nan = compare<_CMP_UNORD_Q, 0>(a_value, a_value),
                   b_nan = compare<_CMP_UNORD_Q, 0>(b_value, b_value);
    const unsigned better = compare < Greater ? _CMP_GT_OQ : _CMP_LT_OQ, 0 > (a_value, b_value);
    const unsigned tie = compare<_CMP_EQ_OQ, 0>(a_value, b_value) | (a_nan & b_nan);
    const unsigned left = better | (a_nan & ~b_nan) | index_less(static_cast<__mmask8>(tie), a, b);
    return _mm512_mask_mov_epi64(b, static_cast<__mmask8>(left), a);
  }
  static __m512i apply(__m512i a, __m512i b) { return choose(a, value_of(a), b, value_of(b)); }

  static __m512i value_at(const void* at) {
    const __m512i value = _mm512_castpd_si512(_mm512_movedup_pd(_mm512_loadu_pd(at)));
    forget_loads();
    return value;
  }
  static __m512i apply_memory(__m512i a, const void* b) {
    const __m512i b_value = value_at(b);
    return choose(a, value_of(a), _mm512_loadu_si512(b), b_value);
  }
  static __m512i apply_memories(const void* a, const void* b) {
    const __m512i a_value = value_at(a), b_value = value_at(b);
    return choose(_mm512_loadu_si512(a), a_value, _mm512_loadu_si512(b), b_value);
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
