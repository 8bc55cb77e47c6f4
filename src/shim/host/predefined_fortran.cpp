// Datatypes of the Fortran binding, required and optional, and 16-bit floats: what they are is known once the host
// has said how large they are (compilers may widen INTEGER and REAL).
#include <optional>

#include "abi.h"
#include "shim/bind/forward.h"
#include "shim/host/predefined.h"
#include "shim/host/quiet_comm.h"

namespace millrace::shim {
namespace {

using kernel::Type;

enum class FortranKind : std::uint8_t { integer, real, brain_real, complex, logical, integer_pair, real_pair };

struct NamedType {
  PredefinedName names;
  FortranKind kind;
};

constexpr NamedType types[] = {
    {{"MPI_INTEGER", "ompi_mpi_integer", 0x4c00041b, 0x0219}, FortranKind::integer},
    {{"MPI_INTEGER1", "ompi_mpi_integer1", 0x4c00012d, 0x02c1}, FortranKind::integer},
    {{"MPI_INTEGER2", "ompi_mpi_integer2", 0x4c00022f, 0x02c9}, FortranKind::integer},
    {{"MPI_INTEGER4", "ompi_mpi_integer4", 0x4c000430, 0x02d1}, FortranKind::integer},
    {{"MPI_INTEGER8", "ompi_mpi_integer8", 0x4c000831, 0x02d9}, FortranKind::integer},
    {{"MPI_INTEGER16", "ompi_mpi_integer16", 0x4c001032, 0x02e1}, FortranKind::integer},
    {{"MPI_REAL", "ompi_mpi_real", 0x4c00041c, 0x021a}, FortranKind::real},
    {{"MPI_DOUBLE_PRECISION", "ompi_mpi_dblprec", 0x4c00081f, 0x021c}, FortranKind::real},
    {{"MPI_REAL2", "ompi_mpi_real2", 0x4c000226, 0x02ca}, FortranKind::real},
    {{"MPI_REAL4", "ompi_mpi_real4", 0x4c000427, 0x02d2}, FortranKind::real},
    {{"MPI_REAL8", "ompi_mpi_real8", 0x4c000829, 0x02da}, FortranKind::real},
    {{"MPI_REAL16", "ompi_mpi_real16", 0x4c00102b, 0x02e2}, FortranKind::real},
    {{"MPI_COMPLEX", "ompi_mpi_cplex", 0x4c00081e, 0x021b}, FortranKind::complex},
    {{"MPI_DOUBLE_COMPLEX", "ompi_mpi_dblcplex", 0x4c001022, 0x021d}, FortranKind::complex},
    {{"MPI_COMPLEX4", "ompi_mpi_complex4", 0x4c00042e, 0x02d3}, FortranKind::complex},
    {{"MPI_COMPLEX8", "ompi_mpi_complex8", 0x4c000828, 0x02db}, FortranKind::complex},
    {{"MPI_COMPLEX16", "ompi_mpi_complex16", 0x4c00102a, 0x02e3}, FortranKind::complex},
    {{"MPI_COMPLEX32", "ompi_mpi_complex32", 0x4c00202c, 0x02eb}, FortranKind::complex},
    {{"MPI_LOGICAL", "ompi_mpi_logical", 0x4c00041d, 0x0218}, FortranKind::logical},
    {{"MPI_LOGICAL1", "ompi_mpi_logical1", 0x4c000147, 0x02c0}, FortranKind::logical},
    {{"MPI_LOGICAL2", "ompi_mpi_logical2", 0x4c000248, 0x02c8}, FortranKind::logical},
    {{"MPI_LOGICAL4", "ompi_mpi_logical4", 0x4c000449, 0x02d0}, FortranKind::logical},
    {{"MPI_LOGICAL8", "ompi_mpi_logical8", 0x4c00084a, 0x02d8}, FortranKind::logical},
    {{"MPI_LOGICAL16", "ompi_mpi_logical16", 0x4c00104b, 0x02e0}, FortranKind::logical},
    {{"MPI_2INTEGER", "ompi_mpi_2integer", 0x4c000820, 0x0232}, FortranKind::integer_pair},
    {{"MPI_2REAL", "ompi_mpi_2real", 0x4c000821, 0x0230}, FortranKind::real_pair},
    {{"MPI_2DOUBLE_PRECISION", "ompi_mpi_2dblprec", 0x4c001023, 0x0231}, FortranKind::real_pair},
    // Not in the standard; named alike by MPICH and its derivatives, with a value of Intel's own for the second.
    {{"MPIX_C_FLOAT16", "ompi_mpi_short_float", 0x4c000246, 0}, FortranKind::real},
    {{"MPIX_BFLOAT16", "", 0x4c00024c, 0}, FortranKind::brain_real},
    {{"MPIX_C_BF16", "", 0x4c000247, 0}, FortranKind::brain_real},
};

std::optional<Type> layout(FortranKind kind, int bytes) {
  switch (kind) {
    case FortranKind::integer:
      if (bytes == 1) return Type::i8;
      if (bytes == 2) return Type::i16;
      if (bytes == 4) return Type::i32;
      if (bytes == 8) return Type::i64;
      if (bytes == 16) return Type::i128;
      break;
    case FortranKind::real:
      if (bytes == 2) return Type::f16;
      if (bytes == 4) return Type::f32;
      if (bytes == 8) return Type::f64;
      if (bytes == 16) return Type::f128;
      break;
    case FortranKind::brain_real:
      if (bytes == 2) return Type::bf16;
      break;
    case FortranKind::complex:
      if (bytes == 4) return Type::c16;
      if (bytes == 8) return Type::c32;
      if (bytes == 16) return Type::c64;
      if (bytes == 32) return Type::c128;
      break;
    case FortranKind::logical:
      if (bytes == 1) return Type::l8;
      if (bytes == 2) return Type::l16;
      if (bytes == 4) return Type::l32;
      if (bytes == 8) return Type::l64;
      if (bytes == 16) return Type::l128;
      break;
    case FortranKind::integer_pair:
      if (bytes == 8) return Type::i32_i32;
      if (bytes == 16) return Type::i64_i64;
      break;
    case FortranKind::real_pair:
      if (bytes == 8) return Type::f32_f32;
      if (bytes == 16) return Type::f64_f64;
      break;
  }
  return std::nullopt;
}

OpGroup group(FortranKind kind) {
  switch (kind) {
    case FortranKind::integer: return OpGroup::other_integer;
    case FortranKind::complex: return OpGroup::complex;
    case FortranKind::logical: return OpGroup::logical;
    case FortranKind::integer_pair:
    case FortranKind::real_pair: return OpGroup::pair;
    case FortranKind::real:
    case FortranKind::brain_real: break;
  }
  return OpGroup::floating;
}

}  // namespace

std::vector<Word> askable_types() {
  std::vector<Word> handles;
  for (const NamedType& type : types)
    if (const Word handle = handle_of(type.names); handle != 0) handles.push_back(handle);
  return handles;
}

std::optional<KnownType> ask_for_type(Word handle) {
  for (const NamedType& type : types) {
    if (handle_of(type.names) != handle) continue;
    int bytes = 0;
    if (!host_has_type(handle) || host<Symbol::MPI_Type_size>(handle, as_word(&bytes)) != 0) return std::nullopt;
    const auto known_layout = layout(type.kind, bytes);
    if (!known_layout) return std::nullopt;
    return KnownType{type.names.name, handle, *known_layout, group(type.kind)};
  }
  return std::nullopt;
}

}  // namespace millrace::shim
