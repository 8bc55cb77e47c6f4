#include "plan/host_version.h"

#include <algorithm>
#include <charconv>

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

}  // namespace millrace::plan
