#include "node/memory_limit.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "base/control_groups.h"
#include "base/files.h"

namespace millrace::node {
namespace {

// "NAME NUMBER" or "NAME: NUMBER kB" in a file of such lines.
std::uint64_t number_after(const std::string& file, const std::string& name) {
  for (const std::string& line : read_lines(file)) {
    if (line.rfind(name, 0) != 0) continue;
    return std::strtoull(line.c_str() + name.size(), nullptr, 10);
  }
  return 0;
}

// The pages of files count as used and are given up when memory is needed.
std::optional<std::uint64_t> left_in(const std::string& group, int version) {
  const bool second = version == 2;
  const auto most = read_number(group + (second ? "/memory.max" : "/memory.limit_in_bytes"));
  const auto used = read_number(group + (second ? "/memory.current" : "/memory.usage_in_bytes"));
  if (!most || !used || *most < 0) return std::nullopt;  // "max"
  const std::string statistics = group + "/memory.stat";
  const std::string prefix = second ? "" : "total_";
  const std::uint64_t files =
      number_after(statistics, prefix + "inactive_file ") + number_after(statistics, prefix + "active_file ");
  const std::uint64_t taken = static_cast<std::uint64_t>(*used) - std::min(files, static_cast<std::uint64_t>(*used));
  const auto limit = static_cast<std::uint64_t>(*most);
  return limit - std::min(taken, limit);
}

}  // namespace

std::uint64_t available_memory_bytes(const std::string& root) {
  std::uint64_t available = number_after(root + "/proc/meminfo", "MemAvailable:") << 10;
  if (available == 0) available = std::numeric_limits<std::uint64_t>::max();
  const ControlGroups groups = control_groups("memory", root);
  for (const std::string& directory : groups.directories)
    if (const auto left = left_in(directory, groups.version)) available = std::min(available, *left);
  return available == std::numeric_limits<std::uint64_t>::max() ? 0 : available;
}

}  // namespace millrace::node
