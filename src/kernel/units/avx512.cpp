// AVX-512 F, BW, DQ and VL.
#include "kernel/reduce/avx512_lanes.h"
#include "kernel/reduce/avx512_pairs.h"
#include "kernel/reduce/table.h"

namespace millrace::kernel {

constinit const KernelSet avx512_unit = vector_unit("avx512", 512);

}  // namespace millrace::kernel
