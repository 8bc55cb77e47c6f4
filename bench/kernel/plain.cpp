#include "plain.h"

#include <cstdint>

namespace millrace::kernel::bench {
namespace {

template <class T, class F>
void loop(const void* in, void* inout, std::size_t n, F apply) {
  const T* __restrict a = static_cast<const T*>(in);
  T* __restrict b = static_cast<T*>(inout);
  for (std::size_t i = 0; i < n; ++i) b[i] = apply(a[i], b[i]);
}

template <class T, Op op>
void arithmetic(const void* in, void* inout, std::size_t n) {
  loop<T>(in, inout, n, [](T a, T b) {
    if constexpr (op == Op::sum) return static_cast<T>(a + b);
    if constexpr (op == Op::prod) return static_cast<T>(a * b);
    if constexpr (op == Op::max) return a > b ? a : b;
    if constexpr (op == Op::min) return a < b ? a : b;
  });
}
template <class T, Op op>
void boolean(const void* in, void* inout, std::size_t n) {
  loop<T>(in, inout, n, [](T a, T b) {
    if constexpr (op == Op::land) return static_cast<T>(a && b);
    if constexpr (op == Op::lor) return static_cast<T>(a || b);
    if constexpr (op == Op::lxor) return static_cast<T>(!a != !b);
    if constexpr (op == Op::band) return static_cast<T>(a & b);
    if constexpr (op == Op::bor) return static_cast<T>(a | b);
    if constexpr (op == Op::bxor) return static_cast<T>(a ^ b);
  });
}

template <class T>
struct ComplexNumber {
  T re, im;
};
template <class T, Op op>
void complex(const void* in, void* inout, std::size_t n) {
  using C = ComplexNumber<T>;
  loop<C>(in, inout, n, [](C a, C b) {
    if constexpr (op == Op::sum) return C{a.re + b.re, a.im + b.im};
    if constexpr (op == Op::prod) return C{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  });
}

template <class V, class I>
struct Located {
  V value;
  I index;
};
template <class V, class I, Op op>
void located(const void* in, void* inout, std::size_t n) {
  using P = Located<V, I>;
  loop<P>(in, inout, n, [](P a, P b) {
    const bool better = op == Op::maxloc ? a.value > b.value : a.value < b.value;
    return better || (a.value == b.value && a.index < b.index) ? a : b;
  });
}

template <class T>
Reduce2 arithmetic_of(Op op) {
  switch (op) {
    case Op::sum: return arithmetic<T, Op::sum>;
    case Op::prod: return arithmetic<T, Op::prod>;
    case Op::max: return arithmetic<T, Op::max>;
    case Op::min: return arithmetic<T, Op::min>;
    default: return nullptr;
  }
}
template <class T>
Reduce2 integer_of(Op op) {
  switch (op) {
    case Op::land: return boolean<T, Op::land>;
    case Op::lor: return boolean<T, Op::lor>;
    case Op::lxor: return boolean<T, Op::lxor>;
    case Op::band: return boolean<T, Op::band>;
    case Op::bor: return boolean<T, Op::bor>;
    case Op::bxor: return boolean<T, Op::bxor>;
    default: return arithmetic_of<T>(op);
  }
}
template <class T>
Reduce2 complex_of(Op op) {
  return op == Op::sum ? complex<T, Op::sum> : op == Op::prod ? complex<T, Op::prod> : nullptr;
}
template <class V, class I>
Reduce2 located_of(Op op) {
  return op == Op::maxloc ? located<V, I, Op::maxloc> : op == Op::minloc ? located<V, I, Op::minloc> : nullptr;
}

}  // namespace

Reduce2 plain_loop(Op op, Type type) {
  switch (type) {
    case Type::i8: return integer_of<std::int8_t>(op);
    case Type::i16: return integer_of<std::int16_t>(op);
    case Type::i32: return integer_of<std::int32_t>(op);
    case Type::i64: return integer_of<std::int64_t>(op);
    case Type::u8:
    case Type::bool8:
    case Type::l8: return integer_of<std::uint8_t>(op);
    case Type::u16:
    case Type::l16: return integer_of<std::uint16_t>(op);
    case Type::u32:
    case Type::l32: return integer_of<std::uint32_t>(op);
    case Type::u64:
    case Type::l64: return integer_of<std::uint64_t>(op);
    case Type::f32: return arithmetic_of<float>(op);
    case Type::f64: return arithmetic_of<double>(op);
    case Type::f80:
    case Type::f128: return type == long_double_type ? arithmetic_of<long double>(op) : nullptr;
    case Type::c32: return complex_of<float>(op);
    case Type::c64: return complex_of<double>(op);
    case Type::i16_i32: return located_of<std::int16_t, std::int32_t>(op);
    case Type::i32_i32: return located_of<std::int32_t, std::int32_t>(op);
    case Type::i64_i32: return located_of<std::int64_t, std::int32_t>(op);
    case Type::i64_i64: return located_of<std::int64_t, std::int64_t>(op);
    case Type::f32_i32: return located_of<float, std::int32_t>(op);
    case Type::f32_f32: return located_of<float, float>(op);
    case Type::f64_i32: return located_of<double, std::int32_t>(op);
    case Type::f64_f64: return located_of<double, double>(op);
    default: return nullptr;
  }
}

}  // namespace millrace::kernel::bench
