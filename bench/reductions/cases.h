// What is measured: every predefined op on every C type that it exists for, each with the loop that one would write.
// Built with the flags of a user (-O3 -march=native): the loops are the yardstick "plain".
#pragma once

#include <mpi.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cases {

using Plain = void (*)(const void*, void*, std::size_t);

template <class T, class Combine>
void loop(const void* in, void* inout, std::size_t elements) {
  const T* __restrict a = static_cast<const T*>(in);
  T* __restrict b = static_cast<T*>(inout);
  for (std::size_t i = 0; i < elements; ++i) b[i] = static_cast<T>(Combine::apply(a[i], b[i]));
}

// clang-format off
struct Sum { template <class T> static auto apply(T a, T b) { return a + b; } };
struct Prod { template <class T> static auto apply(T a, T b) { return a * b; } };
struct Max { template <class T> static auto apply(T a, T b) { return a > b ? a : b; } };
struct Min { template <class T> static auto apply(T a, T b) { return a < b ? a : b; } };
struct Band { template <class T> static auto apply(T a, T b) { return a & b; } };
struct Bor { template <class T> static auto apply(T a, T b) { return a | b; } };
struct Bxor { template <class T> static auto apply(T a, T b) { return a ^ b; } };
struct Land { template <class T> static auto apply(T a, T b) { return a && b; } };
struct Lor { template <class T> static auto apply(T a, T b) { return a || b; } };
struct Lxor { template <class T> static auto apply(T a, T b) { return !a != !b; } };
// clang-format on

template <class T>
struct Parts {
  T re, im;
};
struct ComplexSum {
  template <class T>
  static Parts<T> apply(Parts<T> a, Parts<T> b) {
    return {a.re + b.re, a.im + b.im};
  }
};
struct ComplexProd {
  template <class T>
  static Parts<T> apply(Parts<T> a, Parts<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

template <class V>
struct Pair {
  V value;
  int index;
};
template <bool Greater>
struct Location {
  template <class P>
  static P apply(P a, P b) {
    const bool better = Greater ? a.value > b.value : a.value < b.value;
    return better || (a.value == b.value && a.index < b.index) ? a : b;
  }
};

// How elements are filled.
enum class Kind { integer, f32, f64, f80, pair_i16, pair_i32, pair_i64, pair_f32, pair_f64 };

struct Case {
  std::string name;
  MPI_Op op;
  MPI_Datatype type;
  std::size_t element_bytes;
  Kind kind;
  Plain plain;
  bool at_64_mib;
};

class List {
 public:
  std::vector<Case> all;

  List() {
    integers<std::int8_t>("i8", MPI_INT8_T);
    integers<std::uint8_t>("u8", MPI_UINT8_T);
    integers<std::int16_t>("i16", MPI_INT16_T);
    integers<std::uint16_t>("u16", MPI_UINT16_T);
    integers<std::int32_t>("i32", MPI_INT32_T);
    integers<std::uint32_t>("u32", MPI_UINT32_T);
    integers<std::int64_t>("i64", MPI_INT64_T);
    integers<std::uint64_t>("u64", MPI_UINT64_T);
    reals<float>("f32", MPI_FLOAT, Kind::f32);
    reals<double>("f64", MPI_DOUBLE, Kind::f64);
    reals<long double>("f80", MPI_LONG_DOUBLE, Kind::f80);
    add<bool, Land>("land_bool8", MPI_LAND, MPI_C_BOOL, Kind::integer, true);
    add<bool, Lor>("lor_bool8", MPI_LOR, MPI_C_BOOL, Kind::integer);
    add<bool, Lxor>("lxor_bool8", MPI_LXOR, MPI_C_BOOL, Kind::integer);
    add<Parts<float>, ComplexSum>("sum_c32", MPI_SUM, MPI_C_FLOAT_COMPLEX, Kind::f32, true);
    add<Parts<float>, ComplexProd>("prod_c32", MPI_PROD, MPI_C_FLOAT_COMPLEX, Kind::f32);
    add<Parts<double>, ComplexSum>("sum_c64", MPI_SUM, MPI_C_DOUBLE_COMPLEX, Kind::f64);
    add<Parts<double>, ComplexProd>("prod_c64", MPI_PROD, MPI_C_DOUBLE_COMPLEX, Kind::f64, true);
    pairs<short>("i16_i32", MPI_SHORT_INT, Kind::pair_i16);
    pairs<int>("i32_i32", MPI_2INT, Kind::pair_i32);
    pairs<long>("i64_i32", MPI_LONG_INT, Kind::pair_i64);
    pairs<float>("f32_i32", MPI_FLOAT_INT, Kind::pair_f32);
    pairs<double>("f64_i32", MPI_DOUBLE_INT, Kind::pair_f64);
  }

 private:
  template <class T, class Combine>
  void add(const std::string& name, MPI_Op op, MPI_Datatype type, Kind kind, bool at_64_mib = false) {
    all.push_back({name, op, type, sizeof(T), kind, loop<T, Combine>, at_64_mib});
  }
  template <class T>
  void integers(const std::string& type_name, MPI_Datatype type) {
    const Kind kind = Kind::integer;
    add<T, Sum>("sum_" + type_name, MPI_SUM, type, kind, type_name == "i8");
    add<T, Prod>("prod_" + type_name, MPI_PROD, type, kind, type_name == "i32");
    add<T, Max>("max_" + type_name, MPI_MAX, type, kind);
    add<T, Min>("min_" + type_name, MPI_MIN, type, kind);
    add<T, Land>("land_" + type_name, MPI_LAND, type, kind, type_name == "i32");
    add<T, Lor>("lor_" + type_name, MPI_LOR, type, kind);
    add<T, Lxor>("lxor_" + type_name, MPI_LXOR, type, kind);
    add<T, Band>("band_" + type_name, MPI_BAND, type, kind, type_name == "u64");
    add<T, Bor>("bor_" + type_name, MPI_BOR, type, kind);
    add<T, Bxor>("bxor_" + type_name, MPI_BXOR, type, kind);
  }
  template <class T>
  void reals(const std::string& type_name, MPI_Datatype type, Kind kind) {
    add<T, Sum>("sum_" + type_name, MPI_SUM, type, kind, true);
    add<T, Prod>("prod_" + type_name, MPI_PROD, type, kind);
    add<T, Max>("max_" + type_name, MPI_MAX, type, kind, type_name == "f32");
    add<T, Min>("min_" + type_name, MPI_MIN, type, kind);
  }
  template <class V>
  void pairs(const std::string& type_name, MPI_Datatype type, Kind kind) {
    add<Pair<V>, Location<true>>("maxloc_" + type_name, MPI_MAXLOC, type, kind, type_name == "f64_i32");
    add<Pair<V>, Location<false>>("minloc_" + type_name, MPI_MINLOC, type, kind);
  }
};

}  // namespace cases
