#include "plan/op_substitution.h"

namespace millrace::plan {
namespace {

struct Threshold {
  HostFamily family;
  OpClass op_class;
  std::uint64_t bytes;
};

// Measured by bench/op_substitution on 2 ranks (docs/results/op_substitution.md); what is not listed is `never`.
constexpr Threshold thresholds[] = {
    {HostFamily::openmpi_4, OpClass::bitwise, 4096},     {HostFamily::openmpi_4, OpClass::logical, 4096},
    {HostFamily::openmpi_4, OpClass::complex_sum, 4096}, {HostFamily::openmpi_4, OpClass::complex_product, 4096},
    {HostFamily::openmpi_5, OpClass::logical, 4096},
};

}  // namespace

HostFamily host_family(std::string_view version) {
  if (version.starts_with("Open MPI v4.")) return HostFamily::openmpi_4;
  if (version.starts_with("Open MPI v5.")) return HostFamily::openmpi_5;
  if (version.starts_with("Intel(R) MPI Library 2021")) return HostFamily::intel;
  if (!version.starts_with("MPICH Version:")) return HostFamily::unknown;
  const std::size_t digit = version.find_first_of("0123456789");
  if (digit == std::string_view::npos) return HostFamily::unknown;
  if (version.substr(digit).starts_with("4.")) return HostFamily::mpich_4;
  if (version.substr(digit).starts_with("5.")) return HostFamily::mpich_5;
  return HostFamily::unknown;
}

const char* host_family_name(HostFamily family) {
  switch (family) {
    case HostFamily::openmpi_4: return "Open MPI 4";
    case HostFamily::openmpi_5: return "Open MPI 5";
    case HostFamily::mpich_4: return "MPICH 4";
    case HostFamily::mpich_5: return "MPICH 5";
    case HostFamily::intel: return "Intel MPI 2021";
    case HostFamily::unknown: break;
  }
  return "a host without measurements";
}

OpClass op_class(kernel::Op op, kernel::Type type) {
  using kernel::Op;
  using kernel::Type;
  const kernel::TypeClass kind = kernel::type_class(type);
  if (op == Op::maxloc || op == Op::minloc) return OpClass::location;
  if (op == Op::land || op == Op::lor || op == Op::lxor) return OpClass::logical;
  if (op == Op::band || op == Op::bor || op == Op::bxor) return OpClass::bitwise;
  if (kind == kernel::TypeClass::integer) return type == Type::i128 ? OpClass::other : OpClass::integer_arithmetic;
  if (type == Type::c32 || type == Type::c64) return op == Op::sum ? OpClass::complex_sum : OpClass::complex_product;
  if (type != Type::f32 && type != Type::f64) return OpClass::other;
  return op == Op::max || op == Op::min ? OpClass::real_extremum : OpClass::real_arithmetic;
}

std::uint64_t substitution_threshold_bytes(HostFamily family, OpClass op_class) {
  for (const Threshold& threshold : thresholds)
    if (threshold.family == family && threshold.op_class == op_class) return threshold.bytes;
  return never;
}

}  // namespace millrace::plan
