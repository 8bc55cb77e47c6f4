// MINLOC and MAXLOC with AVX-512, without a branch that data could mispredict.
//
//   i16_i32   v v . . i i i i               f32_i32   v v v v i i i i              i64_i64   v*8 i*8
//   i32_i32   v v v v i i i i               f32_f32   v v v v i i i i              i64_i32   v*8 i i i i . . . .
//
// Pairs of small integers become one 64-bit key each, value above index, so that one comparison decides. The others
// compare values and indices in both lanes of a pair.
#pragma once

#include "kernel/reduce/generic/pairs.h"
#include "kernel/reduce/x86/avx512.h"

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
  static constexpr auto loaded_from = &LoopLimits::reads_once;
  static constexpr __mmask16 even_lanes = 0x5555, odd_lanes = 0xaaaa;
  struct Operand {
    __m512i pair;
    __m512 value, index;
  };
  static Operand in_register(__m512i x) {
    return {x, _mm512_moveldup_ps(_mm512_castsi512_ps(x)), _mm512_movehdup_ps(_mm512_castsi512_ps(x))};
  }
  static Operand in_memory(const void* at) {
    const __m512 value = _mm512_moveldup_ps(_mm512_loadu_ps(at));
    const void* const again = elsewhere(at);
    const __m512 index = _mm512_movehdup_ps(_mm512_loadu_ps(again));
    return {_mm512_loadu_si512(elsewhere(again)), value, index};
  }
  static __m512i apply(__m512i a, __m512i b) { return choose(in_register(a), in_register(b)); }
  static __m512i apply_memory(__m512i a, const void* b) { return choose(in_register(a), in_memory(b)); }
  static __m512i apply_memories(const void* a, const void* b) { return choose(in_memory(a), in_memory(b)); }

  static __mmask16 index_less(__mmask16 where, __m512 a, __m512 b) {
    if constexpr (FloatIndex)
      return _mm512_mask_cmp_ps_mask(where, a, b, _CMP_LT_OQ);
    else
      return _mm512_mask_cmplt_epi32_mask(where, _mm512_castps_si512(a), _mm512_castps_si512(b));
  }
  static __m512i choose(const Operand& a, const Operand& b) {
    const __mmask16 not_better = _mm512_cmp_ps_mask(a.value, b.value, Greater ? _CMP_LE_OQ : _CMP_GE_OQ);
    const __mmask16 not_worse = _mm512_cmp_ps_mask(a.value, b.value, Greater ? _CMP_GE_OQ : _CMP_LE_OQ);
    if (__builtin_expect(!_kortestc_mask16_u8(not_better, not_worse), 0)) return with_nan(a, b);
    const __mmask16 left_of_tie = index_less(not_worse, a.index, b.index);
    // b where a is not better, but a where the values tie and its index is lower.
    return _mm512_mask_mov_epi32(_mm512_mask_mov_epi32(a.pair, not_better, b.pair), left_of_tie, a.pair);
  }
  static __m512i with_nan(const Operand& a, const Operand& b) {
    const unsigned a_nan = _mm512_cmp_ps_mask(a.value, a.value, _CMP_UNORD_Q);
    const unsigned b_nan = _mm512_cmp_ps_mask(b.value, b.value, _CMP_UNORD_Q);
    const unsigned better = _mm512_cmp_ps_mask(a.value, b.value, Greater ? _CMP_GT_OQ : _CMP_LT_OQ);
    const unsigned tie = _mm512_cmp_ps_mask(a.value, b.value, _CMP_EQ_OQ) | (a_nan & b_nan);
    const unsigned left = better | (a_nan & ~b_nan) | index_less(static_cast<__mmask16>(tie), a.index, b.index);
    return _mm512_mask_mov_epi32(b.pair, static_cast<__mmask16>(left), a.pair);
  }

  // The 16 pairs of two vectors, values and indices apart: even lanes from the first vector, odd ones from the second.
  struct Two {
    __m512 value, index;
  };
  static Two two(__m512i first, __m512i second) {
    const __m512 a = _mm512_castsi512_ps(first), b = _mm512_castsi512_ps(second);
    return {_mm512_mask_moveldup_ps(a, odd_lanes, b), _mm512_mask_movehdup_ps(b, even_lanes, a)};
  }
  static Two two_in_memory(const char* at) {
    const __m512 first = _mm512_moveldup_ps(_mm512_loadu_ps(at));
    const char* const again = elsewhere(at);
    const __m512 second = _mm512_loadu_ps(again + 64);
    return {_mm512_mask_moveldup_ps(first, odd_lanes, _mm512_loadu_ps(at + 64)),
            _mm512_mask_movehdup_ps(second, even_lanes, _mm512_loadu_ps(again))};
  }
  static bool combine(Two& a, const Two& b) {
    const __mmask16 not_better = _mm512_cmp_ps_mask(a.value, b.value, Greater ? _CMP_LE_OQ : _CMP_GE_OQ);
    const __mmask16 not_worse = _mm512_cmp_ps_mask(a.value, b.value, Greater ? _CMP_GE_OQ : _CMP_LE_OQ);
    if (__builtin_expect(!_kortestc_mask16_u8(not_better, not_worse), 0)) return false;
    const __mmask16 take_b = _kandn_mask16(index_less(not_worse, a.index, b.index), not_better);
    a = {_mm512_mask_mov_ps(a.value, take_b, b.value), _mm512_mask_mov_ps(a.index, take_b, b.index)};
    return true;
  }
  static void store_two(char* to, const Two& pairs) {
    _mm512_storeu_ps(to, _mm512_mask_moveldup_ps(pairs.value, odd_lanes, pairs.index));
    _mm512_storeu_ps(to + 64, _mm512_mask_movehdup_ps(pairs.index, even_lanes, pairs.value));
  }
  static void fold_two(char* to, const char* left, const char* right) {
    Two pairs = two_in_memory(left);
    if (__builtin_expect(!combine(pairs, two_in_memory(right)), 0)) return fold_two_with_nan(to, left, right);
    store_two(to, pairs);
  }
  __attribute__((noinline, cold)) static void fold_two_with_nan(char* to, const char* left, const char* right) {
    const __m512i first = with_nan(in_memory(left), in_memory(right));
    const __m512i second = with_nan(in_memory(left + 64), in_memory(right + 64));
    _mm512_storeu_si512(to, first);
    _mm512_storeu_si512(to + 64, second);
  }
};

// ---- values of 8 bytes: lanes of 8 bytes, the value copied to both lanes of its pair by the load, where it can.
// Indices count in the odd lanes, where they are; those of 4 bytes are copied over the gap, so that two of them order
// as one.

enum class Index8 { i32, i64, f64 };

template <bool Greater, bool FloatValue, Index8 index_type>
struct Pairs8 {
  static constexpr auto loaded_from = &LoopLimits::reads_once;
  static constexpr std::size_t bytes = 16;
  static constexpr __mmask64 value_bytes = index_type == Index8::i32 ? 0x0fff0fff0fff0fff : ~__mmask64{0};
  static constexpr __mmask8 odd_lanes = 0xaa, all_lanes = 0xff;

  struct Operand {
    __m512i pair, value, index;
  };
  static __m512i value_of(__m512d x) { return _mm512_castpd_si512(_mm512_movedup_pd(x)); }
  static __m512i narrow_index_of(__m512 x) { return _mm512_castps_si512(_mm512_moveldup_ps(x)); }
  static Operand in_register(__m512i x) {
    const __m512i value = value_of(_mm512_castsi512_pd(x));
    return {x, value, index_type == Index8::i32 ? narrow_index_of(_mm512_castsi512_ps(x)) : x};
  }
  static Operand in_memory(const void* at) {
    const __m512i value = value_of(_mm512_loadu_pd(at));
    const void* const again = elsewhere(at);
    const __m512i pair = _mm512_loadu_si512(again);
    if constexpr (index_type != Index8::i32) return {pair, value, pair};
    return {pair, value, narrow_index_of(_mm512_loadu_ps(elsewhere(again)))};
  }
  static __m512i apply(__m512i a, __m512i b) { return choose(in_register(a), in_register(b)); }
  static __m512i apply_memory(__m512i a, const void* b) { return choose(in_register(a), in_memory(b)); }
  static __m512i apply_memories(const void* a, const void* b) { return choose(in_memory(a), in_memory(b)); }

  template <int float_predicate, int integer_predicate>
  static __mmask8 compare(__mmask8 where, __m512i a, __m512i b) {
    if constexpr (FloatValue)
      return _mm512_mask_cmp_pd_mask(where, _mm512_castsi512_pd(a), _mm512_castsi512_pd(b), float_predicate);
    else
      return _mm512_mask_cmp_epi64_mask(where, a, b, integer_predicate);
  }
  template <int predicate>
  static __mmask8 compare_float(const Operand& a, const Operand& b) {
    return _mm512_cmp_pd_mask(_mm512_castsi512_pd(a.value), _mm512_castsi512_pd(b.value), predicate);
  }
  static __mmask8 index_less(__mmask8 where, __m512i a, __m512i b) {
    if constexpr (index_type == Index8::f64)
      return _mm512_mask_cmp_pd_mask(where, _mm512_castsi512_pd(a), _mm512_castsi512_pd(b), _CMP_LT_OQ);
    else
      return _mm512_mask_cmplt_epi64_mask(where, a, b);
  }
  // From the odd lanes to both.
  static __mmask8 index_less_of_pair(const Operand& a, const Operand& b) {
    const __mmask8 odd = index_less(odd_lanes, a.index, b.index);
    return _kor_mask8(odd, _kshiftri_mask8(odd, 1));
  }
  static __mmask8 not_better(__m512i a, __m512i b) {
    return Greater ? compare<_CMP_LE_OQ, _MM_CMPINT_LE>(all_lanes, a, b)
                   : compare<_CMP_GE_OQ, _MM_CMPINT_NLT>(all_lanes, a, b);
  }
  static __mmask8 not_worse(__mmask8 where, __m512i a, __m512i b) {
    return Greater ? compare<_CMP_GE_OQ, _MM_CMPINT_NLT>(where, a, b) : compare<_CMP_LE_OQ, _MM_CMPINT_LE>(where, a, b);
  }

  // b where a is not better, but a where the values tie and its index is lower.
  static __m512i choose(const Operand& a, const Operand& b) {
    const __mmask8 b_unless_tied = not_better(a.value, b.value);
    __mmask8 left_of_tie;
    if constexpr (FloatValue) {
      const __mmask8 a_unless_tied = not_worse(all_lanes, a.value, b.value);
      if (__builtin_expect(!_kortestc_mask8_u8(b_unless_tied, a_unless_tied), 0)) return with_nan(a, b);
      left_of_tie = _kand_mask8(a_unless_tied, index_less_of_pair(a, b));
    } else {
      // Tied values are the same: the even lanes may be b's.
      left_of_tie = not_worse(index_less(odd_lanes, a.index, b.index), a.value, b.value);
    }
    return _mm512_mask_mov_epi64(_mm512_mask_mov_epi64(a.pair, b_unless_tied, b.pair), left_of_tie, a.pair);
  }
  static __m512i with_nan(const Operand& a, const Operand& b) {
    const unsigned a_nan = compare_float<_CMP_UNORD_Q>(a, a), b_nan = compare_float<_CMP_UNORD_Q>(b, b);
    const unsigned better = compare_float < Greater ? _CMP_GT_OQ : _CMP_LT_OQ > (a, b);
    const unsigned tie = compare_float<_CMP_EQ_OQ>(a, b) | (a_nan & b_nan);
    const unsigned left = better | (a_nan & ~b_nan) | (tie & index_less_of_pair(a, b));
    return _mm512_mask_mov_epi64(b.pair, static_cast<__mmask8>(left), a.pair);
  }

  // The 8 pairs of two vectors, values and indices apart: even lanes from the first vector, odd ones from the second.
  struct Two {
    __m512i value, index;
  };
  static Two two(__m512i first, __m512i second) {
    const __m512i index = _mm512_unpackhi_epi64(first, second);
    return {_mm512_unpacklo_epi64(first, second),
            index_type == Index8::i32 ? narrow_index_of(_mm512_castsi512_ps(index)) : index};
  }
  static Two two_in_memory(const char* at) {
    const __m512d first = _mm512_movedup_pd(_mm512_loadu_pd(at));
    const __m512i value = _mm512_castpd_si512(_mm512_mask_movedup_pd(first, odd_lanes, _mm512_loadu_pd(at + 64)));
    const char* const again = elsewhere(at);
    if constexpr (index_type == Index8::i32) {
      const __m512 second = _mm512_moveldup_ps(_mm512_loadu_ps(again + 64));
      return {value, _mm512_castps_si512(_mm512_mask_moveldup_ps(second, 0x3333, _mm512_loadu_ps(again + 8)))};
    } else {
      const __m512i second = _mm512_loadu_si512(again + 64);
      return {value, _mm512_mask_loadu_epi64(second, 0x55, again + 8)};
    }
  }
  static bool combine(Two& a, const Two& b) {
    const __mmask8 b_unless_tied = not_better(a.value, b.value), a_unless_tied = not_worse(all_lanes, a.value, b.value);
    if constexpr (FloatValue)
      if (__builtin_expect(!_kortestc_mask8_u8(b_unless_tied, a_unless_tied), 0)) return false;
    const __mmask8 take_b = _kandn_mask8(index_less(a_unless_tied, a.index, b.index), b_unless_tied);
    a = {_mm512_mask_mov_epi64(a.value, take_b, b.value), _mm512_mask_mov_epi64(a.index, take_b, b.index)};
    return true;
  }
  static void store_two(char* to, const Two& pairs) {
    store<Pairs8>(to, _mm512_unpacklo_epi64(pairs.value, pairs.index));
    store<Pairs8>(to + 64, _mm512_unpackhi_epi64(pairs.value, pairs.index));
  }
  static void fold_two(char* to, const char* left, const char* right)
    requires FloatValue
  {
    Two pairs = two_in_memory(left);
    if (__builtin_expect(!combine(pairs, two_in_memory(right)), 0)) return fold_two_with_nan(to, left, right);
    store_two(to, pairs);
  }
  __attribute__((noinline, cold)) static void fold_two_with_nan(char* to, const char* left, const char* right) {
    const __m512i first = with_nan(in_memory(left), in_memory(right));
    const __m512i second = with_nan(in_memory(left + 64), in_memory(right + 64));
    store<Pairs8>(to, first);
    store<Pairs8>(to + 64, second);
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
