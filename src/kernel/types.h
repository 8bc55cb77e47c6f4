// The ops and element types that reductions know. An element type is a bit layout, not a language's name for it:
// MPI_LONG, MPI_INT64_T, MPI_AINT and INTEGER*8 are all i64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::kernel {

enum class Op : std::uint8_t { sum, prod, max, min, land, lor, lxor, band, bor, bxor, maxloc, minloc };
inline constexpr std::size_t op_count = 12;

enum class Type : std::uint8_t {
  i8,
  i16,
  i32,
  i64,
  i128,  // two's complement, native byte order
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,  // IEEE binary16 and bfloat16: computed in f32, rounded once per operation
  f32,
  f64,
  f80,   // x87 extended in 16 bytes (long double on x86-64): 6 gap bytes, never written
  f128,  // IEEE binary128 (REAL(16); long double on AArch64)
  c16,
  c32,
  c64,
  c80,
  c128,   // complex: a real and an imaginary part, each of the type f16 f32 f64 f80 f128
  bool8,  // C _Bool, C++ bool: zero is false, all else is true
  l8,
  l16,
  l32,
  l64,
  l128,  // Fortran LOGICAL: zero is false, all else is true
  // Value and index of MINLOC/MAXLOC, laid out as C lays out struct {value; index;}: bytes between are never written.
  i16_i32,
  i32_i32,
  i64_i32,
  i64_i64,
  f32_i32,
  f32_f32,
  f64_i32,
  f64_f64,
  f80_i32,
  f128_i32,
};
inline constexpr std::size_t type_count = 36;

enum class TypeClass : std::uint8_t { integer, floating, complex, logical, pair };

#if defined(__x86_64__)
inline constexpr Type long_double_type = Type::f80;
inline constexpr Type long_double_complex_type = Type::c80;
inline constexpr Type long_double_int_type = Type::f80_i32;
#else
inline constexpr Type long_double_type = Type::f128;
inline constexpr Type long_double_complex_type = Type::c128;
inline constexpr Type long_double_int_type = Type::f128_i32;
#endif

// One name everywhere: "sum", "f64", "f64_i32".
const char* op_name(Op op);
const char* type_name(Type type);
TypeClass type_class(Type type);
std::size_t type_bytes(Type type);  // distance from one element to the next

// Whether MPI defines `op` on types of this class.
bool op_applies(Op op, Type type);

// Index of the kernel of (op, type) among all kernels, its name ("maxloc_f64_i32") and the way back from the name.
inline constexpr std::size_t kernel_count = op_count * type_count;
constexpr std::size_t kernel_index(Op op, Type type) {
  return static_cast<std::size_t>(op) * type_count + static_cast<std::size_t>(type);
}
const char* kernel_name(std::size_t index);  // nullptr for an index out of range
inline const char* kernel_name(Op op, Type type) { return kernel_name(kernel_index(op, type)); }

inline constexpr std::size_t no_kernel = ~std::size_t{0};
std::size_t kernel_index_by_name(const char* name, std::size_t name_bytes);  // no_kernel if there is none

}  // namespace millrace::kernel
