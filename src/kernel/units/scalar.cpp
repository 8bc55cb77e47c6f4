// The oracle: one element at a time, compiled with vectorisation off. Every other unit must match it bit for bit.
// clang-format off: what specialises loops comes before what uses them
#include "kernel/reduce/table.h"
#include "kernel/reduce/x87.h"
// clang-format on

namespace millrace::kernel {

constinit const KernelSet scalar_unit = complete_unit("scalar");

}  // namespace millrace::kernel
