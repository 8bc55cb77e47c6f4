// AVX2 and F16C.
// What specialises loops comes before what uses them: a block of its own, which clang-format leaves in its place.
#include "kernel/reduce/x86/avx2_pairs.h"

#include "kernel/reduce/generic/table.h"

namespace millrace::kernel {

constinit const KernelSet avx2_unit = vector_unit("avx2", 256);

}  // namespace millrace::kernel
