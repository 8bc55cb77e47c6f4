// Which instruction sets this processor and operating system give us, and which one the kernels use.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string_view>

#include "kernel/kernel_set.h"

namespace millrace::kernel {

struct IsaUnit {
  const char* name;      // "avx512", as in MILLRACE_ISA
  unsigned vector_bits;  // 0 for scalar
  bool present;          // the processor has every instruction that the unit uses
  bool usable;           // and the operating system saves its registers
  const char* why;       // why not usable: "CPUID does not report AVX512VL", "XCR0 does not enable ZMM"; else ""
  const KernelSet* set;
};

// Every unit built for this architecture, narrowest first. Never empty: scalar is always usable.
std::span<const IsaUnit> isa_units();

struct IsaChoice {
  const IsaUnit* unit;        // never null, always usable
  const KernelSet* narrower;  // of what narrower vectors do faster here (narrower.h); null if a unit or width was named
  bool is_automatic;          // no unit and no width was named, or none that could be followed
  char complaint[160];        // "" if the setting was followed; else one line that says what was done instead
};

// What a value of MILLRACE_ISA stands for here: "auto" (or ""), the name of a unit, or 128, 256, 512: the best unit
// whose vectors are not wider. An unknown or unusable unit gives the best one and a complaint. Changes nothing.
IsaChoice choose_isa(std::string_view setting);

// Makes choose_isa(setting) the active unit for all threads. Kernels found earlier stay valid.
IsaChoice use_isa(std::string_view setting);

// Moves on whenever a choice of kernels may have changed: by use_isa() or use_copy_tuning(). Release by those, acquire
// by who has prepared something for the choices of an epoch.
extern std::atomic<unsigned> choices_epoch;

struct ActiveKernels {
  const IsaUnit* unit;
  const KernelSet* narrower;
};

// What is active. If use_isa was not called yet: what the environment variable MILLRACE_ISA says, read once.
const ActiveKernels& active_kernels();
inline const IsaUnit& active_isa() { return *active_kernels().unit; }

}  // namespace millrace::kernel
