#include "types.h"

#include <cwchar>

#include "component.h"

namespace millrace::openmpi {
namespace {

using kernel::Type;

// Fortran kinds have the sizes that Open MPI's configuration found. `none` for a size that we have no kernels for.
constexpr auto none = static_cast<Type>(kernel::type_count);

constexpr Type integer(std::size_t bytes) {
  switch (bytes) {
    case 1: return Type::i8;
    case 2: return Type::i16;
    case 4: return Type::i32;
    case 8: return Type::i64;
    case 16: return Type::i128;
    default: return none;
  }
}
constexpr Type real(std::size_t bytes) {
  switch (bytes) {
    case 2: return Type::f16;
    case 4: return Type::f32;
    case 8: return Type::f64;
    case 16: return Type::f128;
    default: return none;
  }
}
constexpr Type logical(std::size_t bytes) {
  switch (bytes) {
    case 1: return Type::l8;
    case 2: return Type::l16;
    case 4: return Type::l32;
    case 8: return Type::l64;
    default: return none;
  }
}
constexpr Type two_of(Type type) {
  switch (type) {
    case Type::i32: return Type::i32_i32;
    case Type::i64: return Type::i64_i64;
    case Type::f32: return Type::f32_f32;
    case Type::f64: return Type::f64_f64;
    default: return none;
  }
}
static_assert(sizeof(long) == 8);

constexpr Type layout(int type_index) {
  switch (type_index) {
    case OMPI_OP_BASE_TYPE_INT8_T: return Type::i8;
    case OMPI_OP_BASE_TYPE_UINT8_T: return Type::u8;
    case OMPI_OP_BASE_TYPE_INT16_T: return Type::i16;
    case OMPI_OP_BASE_TYPE_UINT16_T: return Type::u16;
    case OMPI_OP_BASE_TYPE_INT32_T: return Type::i32;
    case OMPI_OP_BASE_TYPE_UINT32_T: return Type::u32;
    case OMPI_OP_BASE_TYPE_INT64_T: return Type::i64;
    case OMPI_OP_BASE_TYPE_UINT64_T: return Type::u64;
    case OMPI_OP_BASE_TYPE_LONG: return Type::i64;
    case OMPI_OP_BASE_TYPE_UNSIGNED_LONG: return Type::u64;
    case OMPI_OP_BASE_TYPE_WCHAR: return integer(sizeof(wchar_t));
    case OMPI_OP_BASE_TYPE_BYTE: return Type::u8;
    case OMPI_OP_BASE_TYPE_BOOL: return Type::bool8;

    case OMPI_OP_BASE_TYPE_INTEGER: return integer(OMPI_SIZEOF_FORTRAN_INTEGER);
    case OMPI_OP_BASE_TYPE_INTEGER1: return Type::i8;
    case OMPI_OP_BASE_TYPE_INTEGER2: return Type::i16;
    case OMPI_OP_BASE_TYPE_INTEGER4: return Type::i32;
    case OMPI_OP_BASE_TYPE_INTEGER8: return Type::i64;
    case OMPI_OP_BASE_TYPE_INTEGER16: return Type::i128;
    case OMPI_OP_BASE_TYPE_LOGICAL: return logical(OMPI_SIZEOF_FORTRAN_LOGICAL);

    case OMPI_OP_BASE_TYPE_FLOAT: return Type::f32;
    case OMPI_OP_BASE_TYPE_DOUBLE: return Type::f64;
    case OMPI_OP_BASE_TYPE_LONG_DOUBLE: return kernel::long_double_type;
    case OMPI_OP_BASE_TYPE_REAL: return real(OMPI_SIZEOF_FORTRAN_REAL);
    case OMPI_OP_BASE_TYPE_DOUBLE_PRECISION: return real(OMPI_SIZEOF_FORTRAN_DOUBLE_PRECISION);
    case OMPI_OP_BASE_TYPE_REAL2: return Type::f16;
    case OMPI_OP_BASE_TYPE_REAL4: return Type::f32;
    case OMPI_OP_BASE_TYPE_REAL8: return Type::f64;
    case OMPI_OP_BASE_TYPE_REAL16: return Type::f128;

    case OMPI_OP_BASE_TYPE_C_FLOAT_COMPLEX: return Type::c32;
    case OMPI_OP_BASE_TYPE_C_DOUBLE_COMPLEX: return Type::c64;
    case OMPI_OP_BASE_TYPE_C_LONG_DOUBLE_COMPLEX: return kernel::long_double_complex_type;

    case OMPI_OP_BASE_TYPE_2REAL: return two_of(real(OMPI_SIZEOF_FORTRAN_REAL));
    case OMPI_OP_BASE_TYPE_2DOUBLE_PRECISION: return two_of(real(OMPI_SIZEOF_FORTRAN_DOUBLE_PRECISION));
    case OMPI_OP_BASE_TYPE_2INTEGER: return two_of(integer(OMPI_SIZEOF_FORTRAN_INTEGER));
    case OMPI_OP_BASE_TYPE_FLOAT_INT: return Type::f32_i32;
    case OMPI_OP_BASE_TYPE_DOUBLE_INT: return Type::f64_i32;
    case OMPI_OP_BASE_TYPE_LONG_INT: return Type::i64_i32;
    case OMPI_OP_BASE_TYPE_2INT: return Type::i32_i32;
    case OMPI_OP_BASE_TYPE_SHORT_INT: return Type::i16_i32;
    case OMPI_OP_BASE_TYPE_LONG_DOUBLE_INT: return kernel::long_double_int_type;
    default: return none;
  }
}

}  // namespace

bool find_type(int type_index, kernel::Type& type) {
  type = layout(type_index);
  return type != none;
}

}  // namespace millrace::openmpi
