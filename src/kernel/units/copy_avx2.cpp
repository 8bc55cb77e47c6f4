// Copies with AVX2.
#include "kernel/copy/copy_table.h"

namespace millrace::kernel {

constinit const CopySet avx2_copy_unit = vector_copy_unit("avx2");

}  // namespace millrace::kernel
