// SVE by hand: the complex product, MAX and MIN of floating point.
#pragma once

#include <arm_sve.h>

#include "kernel/reduce/generic/loops.h"
#include "kernel/reduce/generic/ops.h"

namespace millrace::kernel {
namespace {

// The complex product. (GCC 12 makes FCMLA of the generic expression, a fused multiply-add, whatever -ffp-contract
// says.) Loads split real and imaginary parts; every product is rounded by itself.
struct SveC32 {
  using Part = float;
  using Vector = svfloat32x2_t;
  static std::size_t lanes() { return svcntw(); }
  static svbool_t below(std::size_t i, std::size_t n) { return svwhilelt_b32_u64(i, n); }
  static Vector load(svbool_t lanes, const Part* from) { return svld2_f32(lanes, from); }
  static void store(svbool_t lanes, Part* to, Vector value) { svst2_f32(lanes, to, value); }
  static Vector product(svbool_t p, Vector a, Vector b) {
    const svfloat32_t a_re = svget2_f32(a, 0), a_im = svget2_f32(a, 1), b_re = svget2_f32(b, 0),
                      b_im = svget2_f32(b, 1);
    return svcreate2_f32(svsub_f32_x(p, svmul_f32_x(p, a_re, b_re), svmul_f32_x(p, a_im, b_im)),
                         svadd_f32_x(p, svmul_f32_x(p, a_re, b_im), svmul_f32_x(p, a_im, b_re)));
  }
};

struct SveC64 {
  using Part = double;
  using Vector = svfloat64x2_t;
  static std::size_t lanes() { return svcntd(); }
  static svbool_t below(std::size_t i, std::size_t n) { return svwhilelt_b64_u64(i, n); }
  static Vector load(svbool_t lanes, const Part* from) { return svld2_f64(lanes, from); }
  static void store(svbool_t lanes, Part* to, Vector value) { svst2_f64(lanes, to, value); }
  static Vector product(svbool_t p, Vector a, Vector b) {
    const svfloat64_t a_re = svget2_f64(a, 0), a_im = svget2_f64(a, 1), b_re = svget2_f64(b, 0),
                      b_im = svget2_f64(b, 1);
    return svcreate2_f64(svsub_f64_x(p, svmul_f64_x(p, a_re, b_re), svmul_f64_x(p, a_im, b_im)),
                         svadd_f64_x(p, svmul_f64_x(p, a_re, b_im), svmul_f64_x(p, a_im, b_re)));
  }
};

template <class C>
struct SveComplexProd {
  using Part = typename C::Part;
  static constexpr std::size_t bytes = 2 * sizeof(Part);

  // A vector load of misaligned elements is allowed; the pointer is never used for a scalar one.
  static const Part* at(const void* buffer, std::size_t i) {
    return static_cast<const Part*>(static_cast<const void*>(static_cast<const char*>(buffer) + i * bytes));
  }
  static Part* at(void* buffer, std::size_t i) {
    return static_cast<Part*>(static_cast<void*>(static_cast<char*>(buffer) + i * bytes));
  }

  template <class... Rest>
  __attribute__((flatten)) static void fold(void* out, std::size_t n, const void* first, const Rest*... rest) {
    for (std::size_t i = 0; i < n; i += C::lanes()) {
      const svbool_t lanes = C::below(i, n);
      auto accumulated = C::load(lanes, at(first, i));
      ((accumulated = C::product(lanes, accumulated, C::load(lanes, at(rest, i)))), ...);
      C::store(lanes, at(out, i), accumulated);
    }
  }
};

template <>
struct Loop<ComplexProd<float>> {
  using type = SveComplexProd<SveC32>;
};
template <>
struct Loop<ComplexProd<double>> {
  using type = SveComplexProd<SveC64>;
};

struct SveF32 {
  using Value = float;
  using Vector = svfloat32_t;
  static std::size_t lanes() { return svcntw(); }
  static svbool_t all() { return svptrue_b32(); }
  static svbool_t below(std::size_t i, std::size_t n) { return svwhilelt_b32_u64(i, n); }
  static Vector load(svbool_t p, const Value* from, int vector) { return svld1_vnum_f32(p, from, vector); }
  static void store(svbool_t p, Value* to, int vector, Vector value) { svst1_vnum_f32(p, to, vector, value); }
  static Vector choose(svbool_t p, Vector a, Vector b) { return svsel_f32(p, a, b); }
  static svbool_t greater(svbool_t p, Vector a, Vector b) { return svcmpgt_f32(p, a, b); }
  static svbool_t unordered(svbool_t p, Vector a, Vector b) { return svcmpuo_f32(p, a, b); }
};
struct SveF64 {
  using Value = double;
  using Vector = svfloat64_t;
  static std::size_t lanes() { return svcntd(); }
  static svbool_t all() { return svptrue_b64(); }
  static svbool_t below(std::size_t i, std::size_t n) { return svwhilelt_b64_u64(i, n); }
  static Vector load(svbool_t p, const Value* from, int vector) { return svld1_vnum_f64(p, from, vector); }
  static void store(svbool_t p, Value* to, int vector, Vector value) { svst1_vnum_f64(p, to, vector, value); }
  static Vector choose(svbool_t p, Vector a, Vector b) { return svsel_f64(p, a, b); }
  static svbool_t greater(svbool_t p, Vector a, Vector b) { return svcmpgt_f64(p, a, b); }
  static svbool_t unordered(svbool_t p, Vector a, Vector b) { return svcmpuo_f64(p, a, b); }
};

// MAX and MIN of floating point. A loop of one vector spends more on counting than on comparing, so four at a time, and
// a predicate that counts only for the rest. Where the result replaces the right operand (reduce2), only the lanes in
// which the left one wins are stored: one instruction less than to choose and store all.
template <class V, bool Greater>
struct SveExtreme {
  using Value = typename V::Value;
  using Vector = typename V::Vector;
  static constexpr std::size_t bytes = sizeof(Value);

  // A vector load of misaligned elements is allowed; the pointer is never used for a scalar one.
  static const Value* at(const void* buffer, std::size_t i) {
    return static_cast<const Value*>(static_cast<const void*>(static_cast<const char*>(buffer) + i * bytes));
  }
  static Value* at(void* buffer, std::size_t i) {
    return static_cast<Value*>(static_cast<void*>(static_cast<char*>(buffer) + i * bytes));
  }

  // Where Max<T>::apply and Min<T>::apply return the left operand.
  static svbool_t left_wins(svbool_t p, Vector a, Vector b) {
    const svbool_t better = Greater ? V::greater(p, a, b) : V::greater(p, b, a);
    return svorr_b_z(p, better, V::unordered(p, a, a));
  }

  template <class... Rest>
  static void fold_vector(svbool_t p, int vector, Value* out, const Value* first, const Rest*... rest) {
    Vector accumulated = V::load(p, first, vector);
    [[maybe_unused]] const auto combine = [&](Vector right) {
      accumulated = V::choose(left_wins(p, accumulated, right), accumulated, right);
    };
    (combine(V::load(p, rest, vector)), ...);
    V::store(p, out, vector, accumulated);
  }
  static void replace_vector(svbool_t p, int vector, const Value* in, Value* inout) {
    const Vector a = V::load(p, in, vector);
    V::store(left_wins(p, a, V::load(p, inout, vector)), inout, vector, a);
  }

  // Calls step(lanes, vector, i) for every vector: the `vector`-th one from element i on.
  template <class Step>
  __attribute__((always_inline)) static void for_all(std::size_t n, const Step& step) {
    const std::size_t lanes = V::lanes(), group = 4 * lanes;
    const svbool_t all = V::all();
    const std::size_t in_groups = n - n % group;
    std::size_t i = 0;
    for (; i < in_groups; i += group) {
      step(all, 0, i);
      step(all, 1, i);
      step(all, 2, i);
      step(all, 3, i);
    }
    for (; i < n; i += lanes) step(V::below(i, n), 0, i);
  }

  template <class... Rest>
  __attribute__((flatten)) static void fold(void* out, std::size_t n, const void* first, const Rest*... rest) {
    if constexpr (sizeof...(rest) == 1) {
      const bool replaces_right = ((out == rest) && ...);
      if (replaces_right) {
        for_all(n, [=](svbool_t p, int vector, std::size_t i) { replace_vector(p, vector, at(first, i), at(out, i)); });
        return;
      }
    }
    for_all(n, [=](svbool_t p, int vector, std::size_t i) {
      fold_vector(p, vector, at(out, i), at(first, i), at(rest, i)...);
    });
  }
};

template <>
struct Loop<Max<float>> {
  using type = SveExtreme<SveF32, true>;
};
template <>
struct Loop<Min<float>> {
  using type = SveExtreme<SveF32, false>;
};
template <>
struct Loop<Max<double>> {
  using type = SveExtreme<SveF64, true>;
};
template <>
struct Loop<Min<double>> {
  using type = SveExtreme<SveF64, false>;
};

}  // namespace
}  // namespace millrace::kernel
