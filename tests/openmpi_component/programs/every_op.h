// The reference: every op on one element, as DESIGN's semantics have it, and the datatypes that Open MPI reduces.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

enum Op { sum, prod, max, min, land, lor, lxor, band, bor, bxor, maxloc, minloc, op_count };
inline const char* const op_names[] = {"sum",  "prod", "max", "min",  "land",   "lor",
                                       "lxor", "band", "bor", "bxor", "maxloc", "minloc"};

template <class R>
struct Complex {
  R re, im;
};
template <class U>
struct Logical {
  U value;
};
struct Bool {
  unsigned char value;
};
template <class V, class I>
struct Pair {
  V value;
  I index;
};

// Where a value comes from: element `i` of input `seed` of `seeds`. At most one of the inputs has a NaN at each i, and
// floating-point values are such that sums and products of few of them are exact: the order of a fold does not matter.
struct Source {
  unsigned i, seed, seeds;
  bool any_bits;  // unless this is set: then bit patterns are random

  std::uint64_t random() const {
    std::uint64_t x = (std::uint64_t{seed} << 32 | i) * 0x9e3779b97f4a7c15u + 0x1234567;
    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 29);
  }
  bool nan() const { return i % 5 == 3 && i % seeds == seed; }
};

template <class T>
constexpr bool is_integer = std::is_integral_v<T>;

template <class T>
void make(const Source& from, T& out) {
  const std::uint64_t bits = from.random();
  if constexpr (is_integer<T>) {
    out = static_cast<T>(bits);
  } else if (from.any_bits && sizeof(T) <= 8) {
    std::memcpy(&out, &bits, sizeof out);
  } else {
    const T zero = 0;
    out = from.nan() ? zero / zero : static_cast<T>(static_cast<int>(bits % 9) - 4) / 2;
  }
}
// Powers of 2+i turned by quarters: no product of any number of them has a part that is zero, whose sign would depend
// on the order.
template <class R>
void make(const Source& from, Complex<R>& out) {
  constexpr int powers[][2] = {{2, 1}, {3, 4}, {2, 11}};
  const int* const z = powers[from.random() % 3];
  const int turns[][2] = {{z[0], z[1]}, {-z[1], z[0]}, {-z[0], -z[1]}, {z[1], -z[0]}};
  const int* const turned = turns[from.random() / 4 % 4];
  out = {static_cast<R>(turned[0]), static_cast<R>(turned[1])};
}
template <class U>
void make(const Source& from, Logical<U>& out) {
  out.value = from.random() % 2 ? static_cast<U>(from.random() >> 3) : U{0};
}
inline void make(const Source& from, Bool& out) { out.value = from.random() % 2; }
template <class V, class I>
void make(const Source& from, Pair<V, I>& out) {
  Source narrow = from;
  narrow.any_bits = false;
  if constexpr (is_integer<V>) {
    out.value = static_cast<V>(from.random() % 3);
  } else {
    make(narrow, out.value);
  }
  out.index = static_cast<I>(from.random() / 16 % 100);
}

template <class T>
T combine(Op op, T a, T b) {
  if constexpr (is_integer<T>) {
    using U = std::make_unsigned_t<T>;
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    switch (op) {
      case sum: return static_cast<T>(static_cast<U>(x + y));
      case prod: return static_cast<T>(static_cast<U>(x * y));
      case max: return a > b ? a : b;
      case min: return a < b ? a : b;
      case land: return a && b;
      case lor: return a || b;
      case lxor: return !a != !b;
      case band: return a & b;
      case bor: return a | b;
      default: return a ^ b;
    }
  } else {
    switch (op) {
      case sum: return a + b;
      case prod: return a * b;
      case max: return a != a ? a : b != b ? b : a > b ? a : b;
      default: return a != a ? a : b != b ? b : a < b ? a : b;
    }
  }
}
template <class R>
Complex<R> combine(Op op, Complex<R> a, Complex<R> b) {
  if (op == sum) return {a.re + b.re, a.im + b.im};
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class U>
Logical<U> combine(Op op, Logical<U> a, Logical<U> b) {
  const bool x = a.value, y = b.value;
  return {static_cast<U>(op == land ? x && y : op == lor ? x || y : x != y)};
}
inline Bool combine(Op op, Bool a, Bool b) {
  return {static_cast<unsigned char>(combine(op, Logical<int>{a.value}, Logical<int>{b.value}).value)};
}
template <class V, class I>
Pair<V, I> combine(Op op, Pair<V, I> a, Pair<V, I> b) {
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a_nan != b_nan) return a_nan ? a : b;
  if (a_nan || a.value == b.value) return a.index < b.index ? a : b;
  return (op == maxloc) == (a.value > b.value) ? a : b;
}

// Equal bits, of gaps none; a NaN equals a NaN: which payload survives is up to the processor.
template <class T>
bool same(T a, T b) {
  if constexpr (is_integer<T>) return a == b;
  if (a != a || b != b) return a != a && b != b;
  return std::memcmp(&a, &b, std::is_same_v<T, long double> ? 10 : sizeof a) == 0;
}
template <class R>
bool same(Complex<R> a, Complex<R> b) {
  return same(a.re, b.re) && same(a.im, b.im);
}
template <class U>
bool same(Logical<U> a, Logical<U> b) {
  return a.value == b.value;
}
inline bool same(Bool a, Bool b) { return a.value == b.value; }
template <class V, class I>
bool same(Pair<V, I> a, Pair<V, I> b) {
  return same(a.value, b.value) && same(a.index, b.index);
}

struct Case {
  MPI_Datatype type;
  std::vector<Op> ops;
  std::size_t bytes;
  void (*make)(const Source&, void* out);
  void (*combine)(Op, const void* a, const void* b, void* out);
  bool (*same)(const void* a, const void* b);
};

template <class T>
Case case_of(MPI_Datatype type, std::vector<Op> ops) {
  return {type,
          ops,
          sizeof(T),
          [](const Source& from, void* out) { make(from, *static_cast<T*>(out)); },
          [](Op op, const void* a, const void* b, void* out) {
            *static_cast<T*>(out) = combine(op, *static_cast<const T*>(a), *static_cast<const T*>(b));
          },
          [](const void* a, const void* b) { return same(*static_cast<const T*>(a), *static_cast<const T*>(b)); }};
}

std::vector<Case> every_case();
