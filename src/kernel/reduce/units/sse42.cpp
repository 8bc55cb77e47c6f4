// SSE4.2 (x86-64-v2). It multiplies no 64-bit integers and converts no binary16; doing that with integer instructions
// is hardly faster than one at a time.
#include "kernel/reduce/generic/table.h"

namespace millrace::kernel {
namespace {

constexpr KernelSet without_scalar_loops() {
  KernelSet set = vector_unit("sse42", 128);
  constexpr Type without_prod[] = {Type::i64, Type::u64, Type::f16, Type::c16};
  constexpr Type without_sum[] = {Type::f16, Type::c16};
  for (const Type type : without_prod) set = without(set, Op::prod, type);
  for (const Type type : without_sum) set = without(set, Op::sum, type);
  return set;
}

}  // namespace

constinit const KernelSet sse42_unit = without_scalar_loops();

}  // namespace millrace::kernel
