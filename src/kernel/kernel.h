// Reductions, in process: find a kernel for (op, type), call it. Every function here is thread-safe and depends on
// nothing but libc, so it may run before and after the constructors of anything else (the shim is a preload).
//
//   if (auto reduce = kernel::find_reduce2(Op::sum, Type::f64)) reduce(in, inout, elements);
#pragma once

#include <span>
#include <string_view>

#include "kernel/isa.h"
#include "kernel/kernel_set.h"
#include "kernel/types.h"

namespace millrace::kernel {

// The kernel of the active instruction set, else the scalar one; nullptr if (op, type) is not covered.
Reduce2 find_reduce2(Op op, Type type);
Reduce3 find_reduce3(Op op, Type type);
ReduceN find_reduce_n(Op op, Type type);

// The three forms of one unit, without falling back on the scalar unit (tests, benchmarks).
const Kernel& kernel_of(const KernelSet& unit, Op op, Type type);

// The name of the instruction set whose code find_reduce2 returns; nullptr if not covered.
const char* kernel_isa(Op op, Type type);

}  // namespace millrace::kernel
