// Copies with SSE4.2.
#include "kernel/copy/copy_table.h"

namespace millrace::kernel {

constinit const CopySet sse42_copy_unit = vector_copy_unit("sse42");

}  // namespace millrace::kernel
