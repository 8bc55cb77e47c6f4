#include "shim/host/predefined.h"

#include "abi.h"

namespace millrace::shim {
namespace {

struct NamedOp {
  PredefinedName names;
  kernel::Op op;
};

constexpr NamedOp ops[] = {
    {{"MPI_SUM", "ompi_mpi_op_sum", 0x58000003, 0x0021}, kernel::Op::sum},
    {{"MPI_PROD", "ompi_mpi_op_prod", 0x58000004, 0x0024}, kernel::Op::prod},
    {{"MPI_MAX", "ompi_mpi_op_max", 0x58000001, 0x0023}, kernel::Op::max},
    {{"MPI_MIN", "ompi_mpi_op_min", 0x58000002, 0x0022}, kernel::Op::min},
    {{"MPI_LAND", "ompi_mpi_op_land", 0x58000005, 0x0030}, kernel::Op::land},
    {{"MPI_LOR", "ompi_mpi_op_lor", 0x58000007, 0x0031}, kernel::Op::lor},
    {{"MPI_LXOR", "ompi_mpi_op_lxor", 0x58000009, 0x0032}, kernel::Op::lxor},
    {{"MPI_BAND", "ompi_mpi_op_band", 0x58000006, 0x0028}, kernel::Op::band},
    {{"MPI_BOR", "ompi_mpi_op_bor", 0x58000008, 0x0029}, kernel::Op::bor},
    {{"MPI_BXOR", "ompi_mpi_op_bxor", 0x5800000a, 0x002a}, kernel::Op::bxor},
    {{"MPI_MAXLOC", "ompi_mpi_op_maxloc", 0x5800000c, 0x0039}, kernel::Op::maxloc},
    {{"MPI_MINLOC", "ompi_mpi_op_minloc", 0x5800000b, 0x0038}, kernel::Op::minloc},
};

}  // namespace

Word handle_of(const PredefinedName& name) {
  return abi::predefined_handle(name.openmpi_object, name.mpich_handle, name.mpi_abi_handle);
}

bool allows(OpGroup group, kernel::Op op) {
  using kernel::Op;
  const bool is_logical = op == Op::land || op == Op::lor || op == Op::lxor;
  const bool is_bitwise = op == Op::band || op == Op::bor || op == Op::bxor;
  if (group == OpGroup::byte) return is_bitwise;
  if (group == OpGroup::other_integer) return !is_logical;
  return true;  // the layout's own rule, kernel::op_applies, says the rest
}

std::vector<KnownOp> known_ops() {
  std::vector<KnownOp> known;
  for (const NamedOp& op : ops)
    if (const Word handle = handle_of(op.names)) known.push_back({op.names.name, handle, op.op});
  return known;
}

}  // namespace millrace::shim
