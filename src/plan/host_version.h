// Who made a host, and which version it is.
#pragma once

#include <cstdint>
#include <string_view>

namespace millrace::plan {

enum class Vendor : std::uint8_t { unknown, openmpi, mpich, intel };

struct HostVersion {
  Vendor vendor = Vendor::unknown;
  int major = 0, minor = 0;
};

// From MPI_Get_library_version: "Open MPI v5.0.11, ...", "MPICH Version:\t4.0.2", "Intel(R) MPI Library 2021.18 ...".
HostVersion host_version(std::string_view library_version);

}  // namespace millrace::plan
