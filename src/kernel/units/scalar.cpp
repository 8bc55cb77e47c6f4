// The oracle: one element at a time, compiled with vectorisation off. Every other unit must match it bit for bit.
#include "kernel/reduce/table.h"

namespace millrace::kernel {

constinit const KernelSet scalar_unit = complete_unit("scalar");

}  // namespace millrace::kernel
