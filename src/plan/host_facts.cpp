#include "plan/host_facts.h"

#include <algorithm>

#include "plan/hosts/hosts.h"

namespace millrace::plan {

const HostFacts& host_facts(const HostVersion& version) {
  const HostFacts* best = &hosts::unknown;
  for (const HostFacts* host : hosts::measured)
    if (host->vendor == version.vendor && host->major == version.major && host->least_minor <= version.minor &&
        (best == &hosts::unknown || best->least_minor < host->least_minor))
      best = host;
  return *best;
}

std::size_t hosts::index_of(std::string_view name) {
  const auto found = std::ranges::find(measured, name, [](const HostFacts* host) { return host->name; });
  return static_cast<std::size_t>(found - std::begin(measured));
}

}  // namespace millrace::plan
