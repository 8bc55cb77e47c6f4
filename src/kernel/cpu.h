// What the processor and the operating system say about instruction sets, split into reading (needs the machine) and
// judging (pure, so that a test can show a processor that is not here).
#pragma once

#include <cstdint>

#include "kernel/isa.h"

namespace millrace::kernel {

#if defined(__x86_64__)
struct CpuWords {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint64_t xcr0 = 0;  // 0 if the OS does not use XSAVE
  std::uint32_t leaf7_ecx = 0;
};
#else
struct CpuWords {
  std::uint64_t hwcap = 0;
  unsigned sve_bits = 0;  // vector length in force for this process, 0 without SVE
};
#endif

inline constexpr std::size_t max_isa_units = 8;
struct IsaTable {
  IsaUnit units[max_isa_units];
  std::size_t count;
};

CpuWords read_cpu();
// Whether the processor is of AMD: what is fast differs from Intel's where both have the same instructions.
bool is_amd();
// Zen 4 takes vectors of 512 bits in two steps (Zen 3 has none); string copies: copy/row.h.
bool is_zen_3_or_4();
bool is_zen_5();
// From how many bytes of an array on vectors of 256 bits bring it in faster than such of 512; ~0 for never.
std::size_t halves_from_bytes();
IsaTable judge_cpu(const CpuWords& words);

}  // namespace millrace::kernel
