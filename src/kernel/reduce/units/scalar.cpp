// The oracle: one element at a time, compiled with vectorisation off. Every other unit must match it bit for bit.
// What specialises loops comes before what uses them: a block of its own, which clang-format leaves in its place.
#include "kernel/reduce/x86/x87.h"

#include "kernel/reduce/generic/table.h"

namespace millrace::kernel {

constinit const KernelSet scalar_unit = complete_unit("scalar");

}  // namespace millrace::kernel
