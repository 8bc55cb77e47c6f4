// Copies with Advanced SIMD.
#include "kernel/copy/copy_table.h"

namespace millrace::kernel {

constinit const CopySet neon_copy_unit = vector_copy_unit("neon");

}  // namespace millrace::kernel
