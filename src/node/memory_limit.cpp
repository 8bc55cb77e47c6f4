#include "node/memory_limit.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "base/control_groups.h"
#include "base/files.h"

namespace millrace::node {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

// Of a line "NAME NUMBER" or "NAME: NUMBER kB"; 0 if there is none.
std::uint64_t number_after(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.substr(0, name.size()) != name) continue;
    const std::size_t digits = line.find_first_not_of(" \t", name.size());
    return digits == std::string_view::npos ? 0 : number(line.substr(digits)).value_or(0);
  }
  return 0;
}

}  // namespace

std::string_view MemoryGauge::read(const std::string& path) { return read_start(path, text_); }

void MemoryGauge::find_groups() {
  const std::string_view membership = read(cgroup_);
  if (membership == membership_) return;
  std::string now(membership);
  const ControlGroups found = control_groups("memory", root_);
  const bool second = found.version == 2;
  std::vector<Group> groups;
  groups.reserve(found.directories.size());
  for (const std::string& directory : found.directories)
    groups.push_back({directory + (second ? "/memory.max" : "/memory.limit_in_bytes"),
                      directory + (second ? "/memory.current" : "/memory.usage_in_bytes"), directory + "/memory.stat"});
  // Nothing is kept before all is there: without memory it is looked for again, never taken for no limit.
  version_ = found.version;
  groups_ = std::move(groups);
  membership_ = std::move(now);
}

// The pages of files count as used and are given up when memory is needed.
std::uint64_t MemoryGauge::left_in(const Group& group) {
  const auto limit = number(read(group.limit_file));  // or "max"
  const auto used = number(read(group.usage_file));
  if (!limit || !used) return unlimited;
  const std::string_view statistics = read(group.statistics_file);
  const bool second = version_ == 2;
  const std::uint64_t files = number_after(statistics, second ? "inactive_file " : "total_inactive_file ") +
                              number_after(statistics, second ? "active_file " : "total_active_file ");
  const std::uint64_t taken = *used - std::min(files, *used);
  return *limit - std::min(taken, *limit);
}

std::uint64_t MemoryGauge::available_bytes() {
  const std::lock_guard lock(mutex_);
  return read_all();
}

std::uint64_t MemoryGauge::recent_bytes(std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (read_at_ns_ == 0 || now_ns - read_at_ns_ > recent_ns) {
    read_bytes_ = read_all();
    read_at_ns_ = now_ns;
  }
  return read_bytes_;
}

std::uint64_t MemoryGauge::read_all() {
  std::uint64_t available = number_after(read(meminfo_), "MemAvailable:") << 10;
  if (available == 0) available = unlimited;
  find_groups();
  for (const Group& group : groups_) available = std::min(available, left_in(group));
  return available == unlimited ? 0 : available;
}

}  // namespace millrace::node
