// MINLOC and MAXLOC with AVX2; the layouts are drawn in avx512_pairs.h. Decisions are masks of whole lanes. There is no
// cheap masked store on every AVX2 processor (AMD's takes dozens of cycles), so values next to a gap are stored one by
// one.
#pragma once

#include "kernel/reduce/generic/pairs.h"
#include "kernel/reduce/x86/avx2.h"

namespace millrace::kernel {
namespace {

template <class V, class I, bool Greater>
struct PairsOf {
  // One pair at a time.
  struct Tail : Pairwise<Location<V, I, Greater>> {
    template <class... Rest>
    static void fold(void* out, std::size_t n, const void* first, const Rest*... rest) {
      using P = Pairwise<Location<V, I, Greater>>;
      for (std::size_t i = 0; i < n; ++i) {
        asm volatile("");
        V value = P::value_at(first, i);
        I index = P::index_at(first, i);
        (P::combine(value, index, P::value_at(rest, i), P::index_at(rest, i)), ...);
        P::store(out, i, value, index);
      }
    }
  };

  static __m256i choose(__m256i left, __m256i a, __m256i b) { return _mm256_blendv_epi8(b, a, left); }

  static __m256i index_order() { return _mm256_set1_epi64x(Greater ? 0x7fffffff : std::int64_t{0x80000000}); }
  static __m256i select(__m256i a, __m256i a_key, __m256i b, __m256i b_key) {
    return choose(Greater ? _mm256_cmpgt_epi64(a_key, b_key) : _mm256_cmpgt_epi64(b_key, a_key), a, b);
  }
};

template <bool Greater>
struct PairsI32 : PairsOf<std::int32_t, std::int32_t, Greater>, StoreAll {
  using P = PairsOf<std::int32_t, std::int32_t, Greater>;
  static __m256i key(__m256i x) { return _mm256_xor_si256(_mm256_shuffle_epi32(x, 0xb1), P::index_order()); }
  static __m256i apply(__m256i a, __m256i b) { return P::select(a, key(a), b, key(b)); }
};

template <bool Greater>
struct PairsI16 : PairsOf<std::int16_t, std::int32_t, Greater> {
  using P = PairsOf<std::int16_t, std::int32_t, Greater>;
  static __m256i key(__m256i x) {
    const __m256i order = _mm256_broadcastsi128_si256(_mm_set_epi64x(0x0908ffff0f0e0d0c, 0x0100ffff07060504));
    return _mm256_xor_si256(_mm256_shuffle_epi8(x, order), P::index_order());
  }
  static __m256i apply(__m256i a, __m256i b) { return P::select(a, key(a), b, key(b)); }
  static void store_one(char* to, std::uint64_t pair) {
    cells<std::uint16_t>(to)->value = static_cast<std::uint16_t>(pair);
    cells<std::uint32_t>(to + 4)->value = static_cast<std::uint32_t>(pair >> 32);
  }
  static void store(char* to, __m256i pairs) {
    store_one(to, static_cast<std::uint64_t>(_mm256_extract_epi64(pairs, 0)));
    store_one(to + 8, static_cast<std::uint64_t>(_mm256_extract_epi64(pairs, 1)));
    store_one(to + 16, static_cast<std::uint64_t>(_mm256_extract_epi64(pairs, 2)));
    store_one(to + 24, static_cast<std::uint64_t>(_mm256_extract_epi64(pairs, 3)));
  }
};

// Values and indices are copied to both lanes of a pair, so that the mask covers both.
template <bool Greater, class I>
struct PairsF32 : PairsOf<float, I, Greater>, StoreAll {
  using P = PairsOf<float, I, Greater>;
  template <int predicate>
  static __m256i compare(__m256 a, __m256 b) {
    return _mm256_castps_si256(_mm256_cmp_ps(a, b, predicate));
  }
  static __m256i index_less(__m256i a, __m256i b) {
    const __m256 ai = _mm256_movehdup_ps(_mm256_castsi256_ps(a)), bi = _mm256_movehdup_ps(_mm256_castsi256_ps(b));
    if constexpr (static_cast<I>(0.5) != 0)
      return compare<_CMP_LT_OQ>(ai, bi);
    else
      return _mm256_cmpgt_epi32(_mm256_castps_si256(bi), _mm256_castps_si256(ai));
  }
  static __m256i apply(__m256i a, __m256i b) {
    const __m256 av = _mm256_moveldup_ps(_mm256_castsi256_ps(a)), bv = _mm256_moveldup_ps(_mm256_castsi256_ps(b));
    const __m256i better = compare < Greater ? _CMP_GT_OQ : _CMP_LT_OQ > (av, bv);
    const __m256i equal = compare<_CMP_EQ_OQ>(av, bv);
    const __m256i lower_index = index_less(a, b);
    __m256i left = _mm256_or_si256(better, _mm256_and_si256(equal, lower_index));
    const __m256i unordered = compare<_CMP_UNORD_Q>(av, bv);
    if (__builtin_expect(!_mm256_testz_si256(unordered, unordered), 0)) {
      const __m256i a_nan = compare<_CMP_UNORD_Q>(av, av), b_nan = compare<_CMP_UNORD_Q>(bv, bv);
      left = _mm256_or_si256(left, _mm256_andnot_si256(b_nan, a_nan));
      left = _mm256_or_si256(left, _mm256_and_si256(_mm256_and_si256(a_nan, b_nan), lower_index));
    }
    return P::choose(left, a, b);
  }
};

template <bool Greater, class V, class I>
struct Pairs8 : PairsOf<V, I, Greater> {
  using P = PairsOf<V, I, Greater>;
  static constexpr bool float_value = static_cast<V>(0.5) != 0, float_index = static_cast<I>(0.5) != 0;
  static constexpr int upper_lane = 0xee;  // of each half: copied to both lanes

  template <int predicate>
  static __m256i compare(__m256i a, __m256i b) {
    return _mm256_castpd_si256(_mm256_cmp_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), predicate));
  }
  static __m256i index_less(__m256i a, __m256i b) {
    if constexpr (float_index)
      return _mm256_shuffle_epi32(compare<_CMP_LT_OQ>(a, b), upper_lane);
    else if constexpr (sizeof(I) == 8)
      return _mm256_shuffle_epi32(_mm256_cmpgt_epi64(b, a), upper_lane);
    else
      return _mm256_shuffle_epi32(_mm256_cmpgt_epi32(b, a), 0xaa);
  }
  static __m256i value(__m256i x) { return _mm256_castpd_si256(_mm256_movedup_pd(_mm256_castsi256_pd(x))); }
  static __m256i apply(__m256i a, __m256i b) {
    const __m256i av = value(a), bv = value(b), lower_index = index_less(a, b);
    if constexpr (!float_value) {
      const __m256i better = Greater ? _mm256_cmpgt_epi64(av, bv) : _mm256_cmpgt_epi64(bv, av);
      const __m256i tie = _mm256_cmpeq_epi64(av, bv);
      return P::choose(_mm256_or_si256(better, _mm256_and_si256(tie, lower_index)), a, b);
    } else {
      const __m256i better = compare < Greater ? _CMP_GT_OQ : _CMP_LT_OQ > (av, bv);
      const __m256i equal = compare<_CMP_EQ_OQ>(av, bv);
      __m256i left = _mm256_or_si256(better, _mm256_and_si256(equal, lower_index));
      const __m256i unordered = compare<_CMP_UNORD_Q>(av, bv);
      if (__builtin_expect(!_mm256_testz_si256(unordered, unordered), 0)) {
        const __m256i a_nan = compare<_CMP_UNORD_Q>(av, av), b_nan = compare<_CMP_UNORD_Q>(bv, bv);
        left = _mm256_or_si256(left, _mm256_andnot_si256(b_nan, a_nan));
        left = _mm256_or_si256(left, _mm256_and_si256(_mm256_and_si256(a_nan, b_nan), lower_index));
      }
      return P::choose(left, a, b);
    }
  }
  static void store_one(char* to, __m128i pair) {
    cells<std::int64_t>(to)->value = _mm_extract_epi64(pair, 0);
    cells<std::int32_t>(to + 8)->value = _mm_extract_epi32(pair, 2);
  }
  static void store(char* to, __m256i pairs) {
    if constexpr (sizeof(I) == 8) return StoreAll::store(to, pairs);
    store_one(to, _mm256_castsi256_si128(pairs));
    store_one(to + 16, _mm256_extracti128_si256(pairs, 1));
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
template <class I, bool Greater>
struct Loop<Location<float, I, Greater>> {
  using type = Vectorwise<PairsF32<Greater, I>>;
};
template <class I, bool Greater>
struct Loop<Location<std::int64_t, I, Greater>> {
  using type = Vectorwise<Pairs8<Greater, std::int64_t, I>>;
};
template <class I, bool Greater>
struct Loop<Location<double, I, Greater>> {
  using type = Vectorwise<Pairs8<Greater, double, I>>;
};

}  // namespace
}  // namespace millrace::kernel
