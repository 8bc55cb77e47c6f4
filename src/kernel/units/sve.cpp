// SVE, one code for every vector length from 128 to 2048 bits.
#include "kernel/reduce/table.h"

namespace millrace::kernel {

constinit const KernelSet sve_unit = vector_unit("sve", 0);

}  // namespace millrace::kernel
