// SVE, one code for every vector length from 128 to 2048 bits. The compiler finds no vectors in pairs of i16 and i32.
// What specialises loops comes before what uses them: a block of its own, which clang-format leaves in its place.
#include "kernel/reduce/arm/sve.h"

#include "kernel/reduce/generic/table.h"

namespace millrace::kernel {

constinit const KernelSet sve_unit =
    without(without(vector_unit("sve", 0), Op::maxloc, Type::i16_i32), Op::minloc, Type::i16_i32);

}  // namespace millrace::kernel
