// What a unit (the translation unit of one instruction set) exports: one KernelSet, nothing else.
// No STL and no inline functions here: a unit must not emit code that another unit's object could also hold.
#pragma once

#include "kernel/types.h"

namespace millrace::kernel {

// All forms: counts are elements, any alignment, no limit below 2^63 bytes. Buffers may be the same or disjoint, never
// partly overlapping, with the exceptions named.
// inout = in op inout.
using Reduce2 = void (*)(const void* in, void* inout, std::size_t elements);
// out = a op b; `out` may be `a` or `b`.
using Reduce3 = void (*)(const void* a, const void* b, void* out, std::size_t elements);
// out = inputs[0] op inputs[1] op ... from the left, in one pass; count >= 1; `out` must be disjoint from every input.
using ReduceN = void (*)(const void* const* inputs, std::size_t count, void* out, std::size_t elements);

struct Kernel {
  Reduce2 reduce2;
  Reduce3 reduce3;
  ReduceN reduce_n;
};

struct KernelSet {
  const char* isa;
  unsigned vector_bits;                  // 0: no vectors, or a length known at run time only
  Kernel kernels[op_count][type_count];  // null where the unit has nothing better than the scalar unit
};

// The bytes of one array from which on kernels take other loops, where their unit has such. The results are the same.
struct LoopLimits {
  std::size_t reads_once;   // more than a first-level cache holds of each of two arrays and a result
  std::size_t loads_apart;  // more than the caches of one core hold
  std::size_t halves;       // where two vectors of half the width are faster than one; use_isa() writes this one
};
inline constexpr LoopLimits default_loop_limits{std::size_t{24} * 1024, std::size_t{1024} * 1024, ~std::size_t{0}};
extern LoopLimits loop_limits;

extern const KernelSet scalar_unit;
#if defined(__x86_64__)
extern const KernelSet sse42_unit;
extern const KernelSet avx2_unit;
extern const KernelSet avx512_unit;
#elif defined(__aarch64__)
extern const KernelSet neon_unit;
extern const KernelSet sve_unit;
#endif

}  // namespace millrace::kernel
