// Advanced SIMD, which every AArch64 processor has.
#include "kernel/reduce/table.h"

namespace millrace::kernel {

constinit const KernelSet neon_unit = vector_unit("neon", 128);

}  // namespace millrace::kernel
