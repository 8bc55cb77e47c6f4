// Advanced SIMD, which every AArch64 processor has. It multiplies no 64-bit integers, and the compiler finds no vectors
// in pairs of i64 and i32.
#include "kernel/reduce/generic/table.h"

namespace millrace::kernel {
namespace {

constexpr KernelSet without_scalar_loops() {
  KernelSet set = vector_unit("neon", 128);
  set = without(without(set, Op::prod, Type::i64), Op::prod, Type::u64);
  return without(without(set, Op::maxloc, Type::i64_i32), Op::minloc, Type::i64_i32);
}

}  // namespace

constinit const KernelSet neon_unit = without_scalar_loops();

}  // namespace millrace::kernel
