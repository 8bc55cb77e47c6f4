#include "handlers.h"

#include <array>
#include <utility>

#include "kernel/kernel.h"
#include "ompi/mca/op/base/functions.h"
#include "types.h"

// Open MPI reduces each of these three like another type, whose index it shares: MPI_OFFSET like an unsigned integer,
// and the Fortran types of 16-byte reals like C's long double, whose format is another one on x86-64.
struct ompi_predefined_datatype_t;
extern "C" {
extern ompi_predefined_datatype_t ompi_mpi_offset, ompi_mpi_real16, ompi_mpi_complex32;
}

namespace millrace::openmpi {
namespace {

using kernel::kernel_count;
using kernel::Op;
using kernel::Type;
using Datatypes = ompi_datatype_t**;
using Module = ompi_op_base_module_t*;

// Written once, before Open MPI knows any handler; read-only from then on.
struct {
  kernel::Reduce2 reduce2[kernel_count];
  kernel::Reduce3 reduce3[kernel_count];
} constinit active{};

template <std::size_t index>
void reduce2(const void* in, void* inout, int* count, Datatypes, Module) {
  active.reduce2[index](in, inout, static_cast<std::size_t>(*count));
}
template <std::size_t index>
void reduce3(const void* a, const void* b, void* out, int* count, Datatypes, Module) {
  active.reduce3[index](a, b, out, static_cast<std::size_t>(*count));
}

template <std::size_t... index>
constexpr std::array<Handlers, kernel_count> one_per_kernel(std::index_sequence<index...>) {
  return {Handlers{reduce2<index>, reduce3<index>}...};
}
constexpr auto handlers = one_per_kernel(std::make_index_sequence<kernel_count>{});

// A type index that stands for two types: kernel `index`, but `guest_index` for the datatype `guest`.
template <std::size_t index, std::size_t guest_index, const ompi_predefined_datatype_t& guest>
struct Shared {
  static std::size_t choose(Datatypes datatype) {
    return static_cast<const void*>(*datatype) == static_cast<const void*>(&guest) ? guest_index : index;
  }
  static void reduce2(const void* in, void* inout, int* count, Datatypes datatype, Module) {
    active.reduce2[choose(datatype)](in, inout, static_cast<std::size_t>(*count));
  }
  static void reduce3(const void* a, const void* b, void* out, int* count, Datatypes datatype, Module) {
    active.reduce3[choose(datatype)](a, b, out, static_cast<std::size_t>(*count));
  }
};

struct SharedEntry {
  int type_index;
  Op op;
  Handlers handlers;
};
template <Op op, Type type, Type guest_type, const ompi_predefined_datatype_t& guest>
constexpr SharedEntry shared(int type_index) {
  using Pair = Shared<kernel::kernel_index(op, type), kernel::kernel_index(op, guest_type), guest>;
  return {type_index, op, {Pair::reduce2, Pair::reduce3}};
}
constexpr Type real = kernel::long_double_type, complex = kernel::long_double_complex_type;
constexpr SharedEntry shared_entries[] = {
    shared<Op::max, Type::u64, Type::i64, ompi_mpi_offset>(OMPI_OP_BASE_TYPE_UINT64_T),
    shared<Op::min, Type::u64, Type::i64, ompi_mpi_offset>(OMPI_OP_BASE_TYPE_UINT64_T),
    shared<Op::max, real, Type::f128, ompi_mpi_real16>(OMPI_OP_BASE_TYPE_LONG_DOUBLE),
    shared<Op::min, real, Type::f128, ompi_mpi_real16>(OMPI_OP_BASE_TYPE_LONG_DOUBLE),
    shared<Op::sum, real, Type::f128, ompi_mpi_real16>(OMPI_OP_BASE_TYPE_LONG_DOUBLE),
    shared<Op::prod, real, Type::f128, ompi_mpi_real16>(OMPI_OP_BASE_TYPE_LONG_DOUBLE),
    shared<Op::sum, complex, Type::c128, ompi_mpi_complex32>(OMPI_OP_BASE_TYPE_C_LONG_DOUBLE_COMPLEX),
    shared<Op::prod, complex, Type::c128, ompi_mpi_complex32>(OMPI_OP_BASE_TYPE_C_LONG_DOUBLE_COMPLEX),
};

bool find_op(int fortran_op, Op& op) {
  switch (fortran_op) {
    case OMPI_OP_BASE_FORTRAN_MAX: op = Op::max; return true;
    case OMPI_OP_BASE_FORTRAN_MIN: op = Op::min; return true;
    case OMPI_OP_BASE_FORTRAN_SUM: op = Op::sum; return true;
    case OMPI_OP_BASE_FORTRAN_PROD: op = Op::prod; return true;
    case OMPI_OP_BASE_FORTRAN_LAND: op = Op::land; return true;
    case OMPI_OP_BASE_FORTRAN_BAND: op = Op::band; return true;
    case OMPI_OP_BASE_FORTRAN_LOR: op = Op::lor; return true;
    case OMPI_OP_BASE_FORTRAN_BOR: op = Op::bor; return true;
    case OMPI_OP_BASE_FORTRAN_LXOR: op = Op::lxor; return true;
    case OMPI_OP_BASE_FORTRAN_BXOR: op = Op::bxor; return true;
    case OMPI_OP_BASE_FORTRAN_MAXLOC: op = Op::maxloc; return true;
    case OMPI_OP_BASE_FORTRAN_MINLOC: op = Op::minloc; return true;
    default: return false;  // MPI_REPLACE and MPI_NO_OP copy or do nothing: Open MPI's own
  }
}

}  // namespace

void take_active_kernels() {
  for (std::size_t op = 0; op < kernel::op_count; ++op) {
    for (std::size_t type = 0; type < kernel::type_count; ++type) {
      const auto index = kernel::kernel_index(static_cast<Op>(op), static_cast<Type>(type));
      active.reduce2[index] = kernel::find_reduce2(static_cast<Op>(op), static_cast<Type>(type));
      active.reduce3[index] = kernel::find_reduce3(static_cast<Op>(op), static_cast<Type>(type));
    }
  }
}

Handlers find_handlers(Op op, int type_index) {
  Type type{};
  if (!find_type(type_index, type)) return {};
  const std::size_t index = kernel::kernel_index(op, type);
  if (!active.reduce2[index] || !active.reduce3[index]) return {};
  for (const SharedEntry& entry : shared_entries)
    if (entry.type_index == type_index && entry.op == op) return entry.handlers;
  return handlers[index];
}

}  // namespace millrace::openmpi

int millrace_offer(int fortran_op, ompi_op_base_module_t* module) {
  using namespace millrace;
  kernel::Op op{};
  if (!openmpi::find_op(fortran_op, op)) return 0;
  int types = 0;
  for (int i = 0; i < OMPI_OP_BASE_TYPE_MAX; ++i) {
    // Where Open MPI has no function, a call is an error that it reports; and it would not start with one of ours.
    const bool wanted = ompi_op_base_functions[fortran_op][i] && ompi_op_base_3buff_functions[fortran_op][i];
    const openmpi::Handlers found = wanted ? openmpi::find_handlers(op, i) : openmpi::Handlers{};
    module->opm_fns[i] = found.reduce2;
    module->opm_3buff_fns[i] = found.reduce3;
    types += found.reduce2 ? 1 : 0;
  }
  return types;
}
