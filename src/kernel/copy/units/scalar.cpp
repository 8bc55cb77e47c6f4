// The oracle of the copies: blocks moved one by one. Every other unit must write the same bytes.
#include "kernel/copy/generic/copy_table.h"

namespace millrace::kernel {

constinit const CopySet scalar_copy_unit = common_copy_unit("scalar");

}  // namespace millrace::kernel
