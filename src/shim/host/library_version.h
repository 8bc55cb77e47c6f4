#pragma once

#include <string>

#include "plan/host_facts.h"

namespace millrace::shim {

// MPI_Get_library_version of the host, as it is; empty if the host cannot say.
std::string library_version();

// What it says, read once.
const plan::HostVersion& host_version();
inline const plan::HostFacts& host_facts() { return plan::host_facts(host_version()); }

}  // namespace millrace::shim
