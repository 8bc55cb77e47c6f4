// Datatypes of the C binding (MPI 4.1, tables 3.2 and 3.3; pairs: 6.9.4).
#include "shim/host/predefined.h"

namespace millrace::shim {
namespace {

using kernel::long_double_complex_type;
using kernel::long_double_int_type;
using kernel::long_double_type;
using kernel::Type;

struct NamedType {
  PredefinedName names;
  OpGroup group;
  Type type;
};

constexpr Type signed_integer(std::size_t bytes) {
  return bytes == 1 ? Type::i8 : bytes == 2 ? Type::i16 : bytes == 4 ? Type::i32 : Type::i64;
}
constexpr Type unsigned_integer(std::size_t bytes) {
  return bytes == 1 ? Type::u8 : bytes == 2 ? Type::u16 : bytes == 4 ? Type::u32 : Type::u64;
}
constexpr Type long_int_type = sizeof(long) == 8 ? Type::i64_i32 : Type::i32_i32;

constexpr NamedType types[] = {
    {{"MPI_SIGNED_CHAR", "ompi_mpi_signed_char", 0x4c000118, 0x0244},
     OpGroup::c_integer,
     signed_integer(sizeof(signed char))},
    {{"MPI_SHORT", "ompi_mpi_short", 0x4c000203, 0x0208}, OpGroup::c_integer, signed_integer(sizeof(short))},
    {{"MPI_INT", "ompi_mpi_int", 0x4c000405, 0x0209}, OpGroup::c_integer, signed_integer(sizeof(int))},
    {{"MPI_LONG", "ompi_mpi_long", 0x4c000807, 0x020a}, OpGroup::c_integer, signed_integer(sizeof(long))},
    {{"MPI_LONG_LONG_INT", "ompi_mpi_long_long_int", 0x4c000809, 0x020b},
     OpGroup::c_integer,
     signed_integer(sizeof(long long))},
    {{"MPI_INT8_T", "ompi_mpi_int8_t", 0x4c000137, 0x0240}, OpGroup::c_integer, signed_integer(sizeof(std::int8_t))},
    {{"MPI_INT16_T", "ompi_mpi_int16_t", 0x4c000238, 0x0248}, OpGroup::c_integer, signed_integer(sizeof(std::int16_t))},
    {{"MPI_INT32_T", "ompi_mpi_int32_t", 0x4c000439, 0x0250}, OpGroup::c_integer, signed_integer(sizeof(std::int32_t))},
    {{"MPI_INT64_T", "ompi_mpi_int64_t", 0x4c00083a, 0x0258}, OpGroup::c_integer, signed_integer(sizeof(std::int64_t))},
    {{"MPI_UNSIGNED_CHAR", "ompi_mpi_unsigned_char", 0x4c000102, 0x0245},
     OpGroup::c_integer,
     unsigned_integer(sizeof(unsigned char))},
    {{"MPI_UNSIGNED_SHORT", "ompi_mpi_unsigned_short", 0x4c000204, 0x020c},
     OpGroup::c_integer,
     unsigned_integer(sizeof(unsigned short))},
    {{"MPI_UNSIGNED", "ompi_mpi_unsigned", 0x4c000406, 0x020d}, OpGroup::c_integer, unsigned_integer(sizeof(unsigned))},
    {{"MPI_UNSIGNED_LONG", "ompi_mpi_unsigned_long", 0x4c000808, 0x020e},
     OpGroup::c_integer,
     unsigned_integer(sizeof(unsigned long))},
    {{"MPI_UNSIGNED_LONG_LONG", "ompi_mpi_unsigned_long_long", 0x4c000819, 0x020f},
     OpGroup::c_integer,
     unsigned_integer(sizeof(unsigned long long))},
    {{"MPI_UINT8_T", "ompi_mpi_uint8_t", 0x4c00013b, 0x0241},
     OpGroup::c_integer,
     unsigned_integer(sizeof(std::uint8_t))},
    {{"MPI_UINT16_T", "ompi_mpi_uint16_t", 0x4c00023c, 0x0249},
     OpGroup::c_integer,
     unsigned_integer(sizeof(std::uint16_t))},
    {{"MPI_UINT32_T", "ompi_mpi_uint32_t", 0x4c00043d, 0x0251},
     OpGroup::c_integer,
     unsigned_integer(sizeof(std::uint32_t))},
    {{"MPI_UINT64_T", "ompi_mpi_uint64_t", 0x4c00083e, 0x0259},
     OpGroup::c_integer,
     unsigned_integer(sizeof(std::uint64_t))},
    {{"MPI_AINT", "ompi_mpi_aint", 0x4c000843, 0x0201}, OpGroup::other_integer, Type::i64},
    {{"MPI_OFFSET", "ompi_mpi_offset", 0x4c000844, 0x0203}, OpGroup::other_integer, Type::i64},
    {{"MPI_COUNT", "ompi_mpi_count", 0x4c000845, 0x0202}, OpGroup::other_integer, Type::i64},
    {{"MPI_BYTE", "ompi_mpi_byte", 0x4c00010d, 0x0247}, OpGroup::byte, Type::u8},
    {{"MPI_FLOAT", "ompi_mpi_float", 0x4c00040a, 0x0210}, OpGroup::floating, Type::f32},
    {{"MPI_DOUBLE", "ompi_mpi_double", 0x4c00080b, 0x0214}, OpGroup::floating, Type::f64},
    {{"MPI_LONG_DOUBLE", "ompi_mpi_long_double", 0x4c00100c, 0x0220}, OpGroup::floating, long_double_type},
    {{"MPI_C_FLOAT_COMPLEX", "ompi_mpi_c_float_complex", 0x4c000840, 0x0212}, OpGroup::complex, Type::c32},
    {{"MPI_C_DOUBLE_COMPLEX", "ompi_mpi_c_double_complex", 0x4c001041, 0x0216}, OpGroup::complex, Type::c64},
    {{"MPI_C_LONG_DOUBLE_COMPLEX", "ompi_mpi_c_long_double_complex", 0x4c002042, 0x0224},
     OpGroup::complex,
     long_double_complex_type},
    {{"MPI_CXX_FLOAT_COMPLEX", "ompi_mpi_cxx_cplex", 0x4c000834, 0x0213}, OpGroup::complex, Type::c32},
    {{"MPI_CXX_DOUBLE_COMPLEX", "ompi_mpi_cxx_dblcplex", 0x4c001035, 0x0217}, OpGroup::complex, Type::c64},
    {{"MPI_CXX_LONG_DOUBLE_COMPLEX", "ompi_mpi_cxx_ldblcplex", 0x4c002036, 0x0225},
     OpGroup::complex,
     long_double_complex_type},
    {{"MPI_C_BOOL", "ompi_mpi_c_bool", 0x4c00013f, 0x0238}, OpGroup::logical, Type::bool8},
    {{"MPI_CXX_BOOL", "ompi_mpi_cxx_bool", 0x4c000133, 0x0239}, OpGroup::logical, Type::bool8},
    {{"MPI_2INT", "ompi_mpi_2int", 0x4c000816, 0x022b}, OpGroup::pair, Type::i32_i32},
    {{"MPI_SHORT_INT", "ompi_mpi_short_int", 0x8c000003, 0x022c}, OpGroup::pair, Type::i16_i32},
    {{"MPI_LONG_INT", "ompi_mpi_long_int", 0x8c000002, 0x022a}, OpGroup::pair, long_int_type},
    {{"MPI_FLOAT_INT", "ompi_mpi_float_int", 0x8c000000, 0x0228}, OpGroup::pair, Type::f32_i32},
    {{"MPI_DOUBLE_INT", "ompi_mpi_double_int", 0x8c000001, 0x0229}, OpGroup::pair, Type::f64_i32},
    {{"MPI_LONG_DOUBLE_INT", "ompi_mpi_longdbl_int", 0x8c000004, 0x022d}, OpGroup::pair, long_double_int_type},
};

}  // namespace

std::vector<KnownType> known_c_types() {
  std::vector<KnownType> known;
  for (const NamedType& type : types)
    if (const Word handle = handle_of(type.names)) known.push_back({type.names.name, handle, type.type, type.group});
  return known;
}

}  // namespace millrace::shim
