// Copies with AVX-512 F, BW, DQ and VL.
#include "kernel/copy/x86/avx512_table.h"

namespace millrace::kernel {

constinit const CopySet avx512_copy_unit = avx512_copies("avx512", 2);

}  // namespace millrace::kernel
