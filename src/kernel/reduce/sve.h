// SVE by hand: the complex product. (GCC 12 makes FCMLA of the generic expression, a fused multiply-add, whatever
// -ffp-contract says.) Loads split real and imaginary parts; every product is rounded by itself.
#pragma once

#include <arm_sve.h>

#include "kernel/reduce/loops.h"
#include "kernel/reduce/ops.h"

namespace millrace::kernel {
namespace {

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

}  // namespace
}  // namespace millrace::kernel
