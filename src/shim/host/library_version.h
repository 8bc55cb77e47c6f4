#pragma once

#include <string>

namespace millrace::shim {

// MPI_Get_library_version of the host, as it is; empty if the host cannot say.
std::string library_version();

}  // namespace millrace::shim
