#include "plan/host_family.h"

#include <algorithm>
#include <charconv>

#include "plan/host_facts.h"

namespace millrace::plan {
namespace {

constexpr struct {
  std::string_view begin;
  Vendor vendor;
} vendors[] = {
    {"Open MPI v", Vendor::openmpi}, {"MPICH Version:", Vendor::mpich}, {"Intel(R) MPI Library ", Vendor::intel}};

// Reads a number that ends before a dot, or at the end; what is behind it remains. 0 if there is none.
int next_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with('.')) text.remove_prefix(1);
  return number;
}

}  // namespace

HostVersion host_version(std::string_view text) {
  for (const auto& [begin, vendor] : vendors) {
    if (!text.starts_with(begin)) continue;
    text.remove_prefix(begin.size());
    text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
    HostVersion version{vendor};
    version.major = next_number(text);
    version.minor = next_number(text);
    return version;
  }
  return {};
}

HostFamily host_family(const HostVersion& version) {
  const int major = version.major;
  switch (version.vendor) {
    case Vendor::openmpi:
      return major == 4 ? HostFamily::openmpi_4 : major == 5 ? HostFamily::openmpi_5 : HostFamily::unknown;
    case Vendor::mpich:
      return major == 4 ? HostFamily::mpich_4 : major == 5 ? HostFamily::mpich_5 : HostFamily::unknown;
    case Vendor::intel: return major == 2021 ? HostFamily::intel : HostFamily::unknown;
    case Vendor::unknown: break;
  }
  return HostFamily::unknown;
}

const char* host_family_name(HostFamily family) { return host_facts(family).name; }

const HostFacts& host_facts(HostFamily family) {
  static constinit const HostFacts unknown{.name = "a host without measurements"};
  switch (family) {
    case HostFamily::openmpi_4: return hosts::openmpi_4;
    case HostFamily::openmpi_5: return hosts::openmpi_5;
    case HostFamily::mpich_4: return hosts::mpich_4;
    case HostFamily::mpich_5: return hosts::mpich_5;
    case HostFamily::intel: return hosts::intel;
    case HostFamily::unknown: break;
  }
  return unknown;
}

}  // namespace millrace::plan
