#include "plan/op_substitution.h"

#include "plan/host_facts.h"

namespace millrace::plan {
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

std::uint64_t substitution_threshold_bytes(const HostFacts& facts, OpClass op_class) {
  for (const SubstitutionRow& row : facts.substitutions)
    if (row.op_class == op_class) return row.least_bytes;
  return never;
}

}  // namespace millrace::plan
