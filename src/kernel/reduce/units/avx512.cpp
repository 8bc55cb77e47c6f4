// AVX-512 F, BW, DQ and VL.
// What specialises loops comes before what uses them: a block of its own, which clang-format leaves in its place.
#include "kernel/reduce/x86/avx512_lanes.h"
#include "kernel/reduce/x86/avx512_pairs.h"

#include "kernel/reduce/generic/table.h"

namespace millrace::kernel {

constinit const KernelSet avx512_unit = vector_unit("avx512", 512);

}  // namespace millrace::kernel
