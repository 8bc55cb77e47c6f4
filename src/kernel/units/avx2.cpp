// AVX2 and F16C.
#include "kernel/reduce/avx2_pairs.h"
#include "kernel/reduce/table.h"

namespace millrace::kernel {

constinit const KernelSet avx2_unit = vector_unit("avx2", 256);

}  // namespace millrace::kernel
