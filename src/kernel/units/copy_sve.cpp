// Copies with SVE.
#include "kernel/copy/copy_table.h"

namespace millrace::kernel {

constinit const CopySet sve_copy_unit = vector_copy_unit("sve");

}  // namespace millrace::kernel
