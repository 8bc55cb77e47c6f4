// Which host this is, as far as decisions of ours depend on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace millrace::plan {

// Those that were measured (hosts/).
enum class HostFamily : std::uint8_t { unknown, openmpi_4, openmpi_5, mpich_4, mpich_5, intel };
inline constexpr std::size_t host_families = 6;
const char* host_family_name(HostFamily family);

enum class Vendor : std::uint8_t { unknown, openmpi, mpich, intel };

struct HostVersion {
  Vendor vendor = Vendor::unknown;
  int major = 0, minor = 0;
};

// From MPI_Get_library_version: "Open MPI v5.0.11, ...", "MPICH Version:\t4.0.2", "Intel(R) MPI Library 2021.18 ...".
HostVersion host_version(std::string_view library_version);
HostFamily host_family(const HostVersion& version);

}  // namespace millrace::plan
