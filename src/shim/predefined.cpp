#include "shim/predefined.h"

#include "abi.h"

namespace millrace::shim {
namespace {

template <class T>
constexpr kernel::Type signed_integer() {
  constexpr kernel::Type by_log2_bytes[] = {kernel::Type::i8, kernel::Type::i16, kernel::Type::i32, kernel::Type::i64};
  return by_log2_bytes[sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3];
}

template <class T>
constexpr kernel::Type unsigned_integer() {
  constexpr kernel::Type by_log2_bytes[] = {kernel::Type::u8, kernel::Type::u16, kernel::Type::u32, kernel::Type::u64};
  return by_log2_bytes[sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3];
}

constexpr PredefinedType types[] = {
    {"MPI_SIGNED_CHAR", "ompi_mpi_signed_char", 0x4c000118, 0x00000244, signed_integer<signed char>(), sizeof(signed char)},
    {"MPI_SHORT", "ompi_mpi_short", 0x4c000203, 0x00000208, signed_integer<short>(), sizeof(short)},
    {"MPI_INT", "ompi_mpi_int", 0x4c000405, 0x00000209, signed_integer<int>(), sizeof(int)},
    {"MPI_LONG", "ompi_mpi_long", 0x4c000807, 0x0000020a, signed_integer<long>(), sizeof(long)},
    {"MPI_LONG_LONG_INT", "ompi_mpi_long_long_int", 0x4c000809, 0x0000020b, signed_integer<long long>(), sizeof(long long)},
    {"MPI_UNSIGNED_CHAR", "ompi_mpi_unsigned_char", 0x4c000102, 0x00000245, unsigned_integer<unsigned char>(), sizeof(unsigned char)},
    {"MPI_UNSIGNED_SHORT", "ompi_mpi_unsigned_short", 0x4c000204, 0x0000020c, unsigned_integer<unsigned short>(), sizeof(unsigned short)},
    {"MPI_UNSIGNED", "ompi_mpi_unsigned", 0x4c000406, 0x0000020d, unsigned_integer<unsigned>(), sizeof(unsigned)},
    {"MPI_UNSIGNED_LONG", "ompi_mpi_unsigned_long", 0x4c000808, 0x0000020e, unsigned_integer<unsigned long>(), sizeof(unsigned long)},
    {"MPI_UNSIGNED_LONG_LONG", "ompi_mpi_unsigned_long_long", 0x4c000819, 0x0000020f, unsigned_integer<unsigned long long>(), sizeof(unsigned long long)},
    {"MPI_INT8_T", "ompi_mpi_int8_t", 0x4c000137, 0x00000240, signed_integer<std::int8_t>(), sizeof(std::int8_t)},
    {"MPI_INT16_T", "ompi_mpi_int16_t", 0x4c000238, 0x00000248, signed_integer<std::int16_t>(), sizeof(std::int16_t)},
    {"MPI_INT32_T", "ompi_mpi_int32_t", 0x4c000439, 0x00000250, signed_integer<std::int32_t>(), sizeof(std::int32_t)},
    {"MPI_INT64_T", "ompi_mpi_int64_t", 0x4c00083a, 0x00000258, signed_integer<std::int64_t>(), sizeof(std::int64_t)},
    {"MPI_UINT8_T", "ompi_mpi_uint8_t", 0x4c00013b, 0x00000241, unsigned_integer<std::uint8_t>(), sizeof(std::uint8_t)},
    {"MPI_UINT16_T", "ompi_mpi_uint16_t", 0x4c00023c, 0x00000249, unsigned_integer<std::uint16_t>(), sizeof(std::uint16_t)},
    {"MPI_UINT32_T", "ompi_mpi_uint32_t", 0x4c00043d, 0x00000251, unsigned_integer<std::uint32_t>(), sizeof(std::uint32_t)},
    {"MPI_UINT64_T", "ompi_mpi_uint64_t", 0x4c00083e, 0x00000259, unsigned_integer<std::uint64_t>(), sizeof(std::uint64_t)},
    {"MPI_FLOAT", "ompi_mpi_float", 0x4c00040a, 0x00000210, kernel::Type::f32, sizeof(float)},
    {"MPI_DOUBLE", "ompi_mpi_double", 0x4c00080b, 0x00000214, kernel::Type::f64, sizeof(double)},
};

constexpr PredefinedOp ops[] = {
    {"MPI_SUM", "ompi_mpi_op_sum", 0x58000003, 0x0021, kernel::Op::sum},
    {"MPI_PROD", "ompi_mpi_op_prod", 0x58000004, 0x0024, kernel::Op::prod},
    {"MPI_MAX", "ompi_mpi_op_max", 0x58000001, 0x0023, kernel::Op::max},
    {"MPI_MIN", "ompi_mpi_op_min", 0x58000002, 0x0022, kernel::Op::min},
    {"MPI_LAND", "ompi_mpi_op_land", 0x58000005, 0x0030, kernel::Op::land},
    {"MPI_LOR", "ompi_mpi_op_lor", 0x58000007, 0x0031, kernel::Op::lor},
    {"MPI_LXOR", "ompi_mpi_op_lxor", 0x58000009, 0x0032, kernel::Op::lxor},
    {"MPI_BAND", "ompi_mpi_op_band", 0x58000006, 0x0028, kernel::Op::band},
    {"MPI_BOR", "ompi_mpi_op_bor", 0x58000008, 0x0029, kernel::Op::bor},
    {"MPI_BXOR", "ompi_mpi_op_bxor", 0x5800000a, 0x002a, kernel::Op::bxor},
};

template <class Predefined>
Word handle_in_this_abi(const Predefined& predefined) {
  if constexpr (abi::host_abi == HostAbi::openmpi) return as_word(find_host_object(predefined.openmpi_object));
  if constexpr (abi::host_abi == HostAbi::mpich) return predefined.mpich_handle;
  return predefined.mpi_abi_handle;
}

}  // namespace

std::span<const PredefinedType> predefined_types() { return types; }
std::span<const PredefinedOp> predefined_ops() { return ops; }
Word handle_of(const PredefinedType& type) { return handle_in_this_abi(type); }
Word handle_of(const PredefinedOp& op) { return handle_in_this_abi(op); }

}  // namespace millrace::shim
