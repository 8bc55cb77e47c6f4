// Fills a unit's table. An instruction set that does better by hand than the compiler specialises Loop in headers that
// the unit includes before this one; everything else is the generic loop.
#pragma once

#include "kernel/reduce/generic/loops.h"
#include "kernel/reduce/generic/ops.h"
#include "kernel/reduce/generic/pairs.h"

namespace millrace::kernel {
namespace {

template <class U>
struct ProdOf {
  using type = Prod<U>;
};
template <>
struct ProdOf<std::uint8_t> {
  using type = ProdBytes<std::uint8_t>;
};
template <class U>
struct Loop<ProdBytes<U>> {
  using type = Wordwise<ProdBytes<U>>;
};
template <class H, Op op>
struct Loop<Arithmetic16<H, op>> {
  using type = Wordwise<Arithmetic16<H, op>>;
};
template <class H, Op op>
inline constexpr bool is_long_op<Arithmetic16<H, op>> = true;
template <class H, bool Greater>
inline constexpr bool is_long_op<Extreme16<H, Greater>> = true;
template <class H>
inline constexpr bool is_long_op<ComplexProd16<H>> = true;
#if MILLRACE_KERNEL_HAS_F80
template <>
inline constexpr bool is_long_op<Max<F80>> = true;
template <>
inline constexpr bool is_long_op<Min<F80>> = true;
#endif
// Pairs are, and products of bytes and of 64 bits, unless the loop has few instructions for them.
template <class F>
inline constexpr bool is_long_here = !requires { Loop<F>::type::is_short; };
template <class V, class I, bool Greater>
inline constexpr bool is_long_op<Location<V, I, Greater>> = is_long_here<Location<V, I, Greater>>;
template <class U>
inline constexpr bool is_long_op<ProdBytes<U>> = is_long_here<ProdBytes<U>>;
template <>
inline constexpr bool is_long_op<Prod<std::uint64_t>> = is_long_here<Prod<std::uint64_t>>;

template <class L, bool long_op>
constexpr Kernel forms_of() {
  using All = Forms<L, long_op>;
  return {All::reduce2, All::reduce3, All::reduce_n};
}
template <class F>
constexpr Kernel kernel() {
  return forms_of<typename Loop<F>::type, is_long_op<F>>();
}
template <class F>
constexpr Kernel in_two_parts() {
  return forms_of<TwoParts<typename Loop<F>::type>, is_long_op<F>>();
}

struct Filler {
  KernelSet set;

  constexpr Kernel& at(Op op, Type type) {
    return set.kernels[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
  }

  template <class U>
  constexpr void logical(Type type) {
    at(Op::land, type) = kernel<LogicalAnd<U>>();
    at(Op::lor, type) = kernel<LogicalOr<U>>();
    at(Op::lxor, type) = kernel<LogicalXor<U>>();
  }
  // What does not depend on the sign.
  template <class U>
  constexpr void wrapping(Type type) {
    at(Op::sum, type) = kernel<Sum<U>>();
    at(Op::prod, type) = kernel<typename ProdOf<U>::type>();
    at(Op::band, type) = kernel<BitAnd<U>>();
    at(Op::bor, type) = kernel<BitOr<U>>();
    at(Op::bxor, type) = kernel<BitXor<U>>();
    logical<U>(type);
  }
  template <class T>
  constexpr void ordered(Type type) {
    at(Op::max, type) = kernel<Max<T>>();
    at(Op::min, type) = kernel<Min<T>>();
  }
  template <class U, class S>
  constexpr void integer(Type without_sign, Type with_sign) {
    wrapping<U>(without_sign);
    wrapping<U>(with_sign);
    ordered<U>(without_sign);
    ordered<S>(with_sign);
  }
  template <class T>
  constexpr void floating(Type real, Type complex) {
    at(Op::sum, real) = kernel<Sum<T>>();
    at(Op::prod, real) = kernel<Prod<T>>();
    ordered<T>(real);
    at(Op::sum, complex) = in_two_parts<Sum<T>>();
    at(Op::prod, complex) = kernel<ComplexProd<T>>();
  }
  template <class H>
  constexpr void floating16(Type real) {
    at(Op::sum, real) = kernel<Arithmetic16<H, Op::sum>>();
    at(Op::prod, real) = kernel<Arithmetic16<H, Op::prod>>();
    at(Op::max, real) = kernel<Extreme16<H, true>>();
    at(Op::min, real) = kernel<Extreme16<H, false>>();
  }
  template <class V, class I>
  constexpr void pair(Type type) {
    at(Op::maxloc, type) = kernel<Location<V, I, true>>();
    at(Op::minloc, type) = kernel<Location<V, I, false>>();
  }

  constexpr void types_with_vectors() {
    integer<std::uint8_t, std::int8_t>(Type::u8, Type::i8);
    integer<std::uint16_t, std::int16_t>(Type::u16, Type::i16);
    integer<std::uint32_t, std::int32_t>(Type::u32, Type::i32);
    integer<std::uint64_t, std::int64_t>(Type::u64, Type::i64);
    logical<std::uint8_t>(Type::bool8);
    logical<std::uint8_t>(Type::l8);
    logical<std::uint16_t>(Type::l16);
    logical<std::uint32_t>(Type::l32);
    logical<std::uint64_t>(Type::l64);
    floating<float>(Type::f32, Type::c32);
    floating<double>(Type::f64, Type::c64);
    floating16<F16>(Type::f16);
    floating16<BF16>(Type::bf16);
    at(Op::sum, Type::c16) = in_two_parts<Arithmetic16<F16, Op::sum>>();
    at(Op::prod, Type::c16) = kernel<ComplexProd16<F16>>();
    pair<std::int16_t, std::int32_t>(Type::i16_i32);
    pair<std::int32_t, std::int32_t>(Type::i32_i32);
    pair<std::int64_t, std::int32_t>(Type::i64_i32);
    pair<std::int64_t, std::int64_t>(Type::i64_i64);
    pair<float, std::int32_t>(Type::f32_i32);
    pair<float, float>(Type::f32_f32);
    pair<double, std::int32_t>(Type::f64_i32);
    pair<double, double>(Type::f64_f64);
  }
  // No instruction set has vectors of these: only the scalar unit covers them.
  constexpr void types_without_vectors() {
    wrapping<U128>(Type::i128);
    ordered<I128>(Type::i128);
    logical<U128>(Type::l128);
    floating<F128>(Type::f128, Type::c128);
    pair<F128, std::int32_t>(Type::f128_i32);
#if MILLRACE_KERNEL_HAS_F80
    floating<F80>(Type::f80, Type::c80);
    pair<F80, std::int32_t>(Type::f80_i32);
#endif
  }
};

constexpr KernelSet vector_unit(const char* isa, unsigned vector_bits) {
  Filler filler{{isa, vector_bits, {}}};
  filler.types_with_vectors();
  return filler.set;
}
// For what the instruction set cannot do in vectors: the scalar unit is used.
constexpr KernelSet without(KernelSet set, Op op, Type type) {
  set.kernels[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)] = {};
  return set;
}
constexpr KernelSet complete_unit(const char* isa) {
  Filler filler{{isa, 0, {}}};
  filler.types_with_vectors();
  filler.types_without_vectors();
  return filler.set;
}

}  // namespace
}  // namespace millrace::kernel
