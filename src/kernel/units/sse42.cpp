// SSE4.2 (x86-64-v2). It multiplies no 64-bit integers.
#include "kernel/reduce/table.h"

namespace millrace::kernel {

constinit const KernelSet sse42_unit =
    without(without(vector_unit("sse42", 128), Op::prod, Type::i64), Op::prod, Type::u64);

}  // namespace millrace::kernel
