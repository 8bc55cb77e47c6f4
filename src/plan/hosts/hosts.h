// The hosts that were measured.
#pragma once

#include <cstddef>
#include <iterator>

#include "plan/host_facts.h"

namespace millrace::plan::hosts {

extern const HostFacts openmpi_4, openmpi_5, mpich_4, mpich_5, intel;
inline constexpr const HostFacts* measured[] = {&openmpi_4, &openmpi_5, &mpich_4, &mpich_5, &intel};

// Any other.
inline constexpr HostFacts unknown{.name = "a host without measurements"};

// The place in `measured` of the one with this name; their number if there is none.
std::size_t index_of(std::string_view name);

}  // namespace millrace::plan::hosts
