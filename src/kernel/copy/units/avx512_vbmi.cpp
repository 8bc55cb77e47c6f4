// Copies with AVX-512 VBMI too: shuffles of single bytes.
#include "kernel/copy/x86/avx512_table.h"

namespace millrace::kernel {

constinit const CopySet avx512_vbmi_copy_unit = avx512_copies("avx512_vbmi", 1);

}  // namespace millrace::kernel
