// Whether a collective reduction that the host does itself should be given an op of ours instead of the predefined
// one: an op made by MPI_Op_create, whose function is our kernel.
//
// Hosts treat such an op differently: MPICH, for one, keeps its reduce-scatter algorithms for predefined ops. So the
// answer is a measured one, per host, class of op and size. It depends on nothing that may differ between the ranks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/types.h"

namespace millrace::plan {

struct HostFacts;

// Ops and types that a host does with code of about the same speed.
enum class OpClass : std::uint8_t {
  real_arithmetic,     // SUM, PROD of float and double
  real_extremum,       // MAX, MIN of float and double
  integer_arithmetic,  // SUM, PROD, MAX, MIN of integers
  bitwise,
  logical,
  complex_sum,
  complex_product,
  location,  // MAXLOC, MINLOC
  other      // 16-bit and extended floats: never
};
OpClass op_class(kernel::Op op, kernel::Type type);

// The least number of bytes (of one rank's contribution) from which the substitute was measured to be no slower at
// every size up to 16 MiB; never: no such size.
inline constexpr std::uint64_t never = ~std::uint64_t{0};
std::uint64_t substitution_threshold_bytes(const HostFacts& facts, OpClass op_class);

}  // namespace millrace::plan
