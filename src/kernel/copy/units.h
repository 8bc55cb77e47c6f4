// The copy units of this processor.
#pragma once

#include <span>

#include "kernel/copy/copy_set.h"
#include "kernel/isa.h"

namespace millrace::kernel {

// The copies of an instruction set (AVX-512: with VBMI if the processor has it). `unit` is one of isa_units().
const CopySet& copies_of(const IsaUnit& unit);

// The copies of the active instruction set.
const CopySet& active_copies();

// Every unit that can run here, narrowest first; AVX-512 without and with VBMI. Never empty.
std::span<const CopySet* const> usable_copies();

}  // namespace millrace::kernel
