#pragma once

#include <string>

#include "plan/host_family.h"

namespace millrace::shim {

// MPI_Get_library_version of the host, as it is; empty if the host cannot say.
std::string library_version();

// What it says, read once.
const plan::HostVersion& host_version();
inline plan::HostFamily host_family() { return plan::host_family(host_version()); }

}  // namespace millrace::shim
