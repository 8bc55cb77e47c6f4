// SSE4.2 (x86-64-v2).
#include "kernel/reduce/table.h"

namespace millrace::kernel {

constinit const KernelSet sse42_unit = vector_unit("sse42", 128);

}  // namespace millrace::kernel
