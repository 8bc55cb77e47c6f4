#include "shim/host/fault_tolerance.h"

#include <cstdlib>
#include <string_view>

#include "abi.h"
#include "shim/bind/host.h"

namespace millrace::shim {
namespace {

// As MPICH reads its variables: the first of these names that is set. Not for every ABI.
[[maybe_unused]] bool is_on_in_environment() {
  for (const char* name : {"MPIR_CVAR_ENABLE_FT", "MPIR_PARAM_ENABLE_FT", "MPICH_ENABLE_FT"}) {
    const char* const text = std::getenv(name);
    if (!text) continue;
    for (const std::string_view yes : {"1", "yes", "YES", "true", "TRUE", "on", "ON"})
      if (yes == text) return true;
    return false;
  }
  return false;
}

}  // namespace

bool host_survives_failures() {
  if constexpr (abi::survives_failures_object == nullptr) return is_on_in_environment();
  const auto* const enabled = static_cast<const bool*>(find_libmpi_object(abi::survives_failures_object));
  return enabled && *enabled;
}

}  // namespace millrace::shim
