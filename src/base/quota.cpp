#include "base/quota.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/files.h"

namespace millrace {
namespace {

struct Hierarchy {
  int version = 0;
  std::string mount_point;
  std::string group;  // of this process, below the mount point: "" or "/a/b"
};

bool contains(const std::string& list, std::string_view word) {
  const std::vector<std::string> words = split_text(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Where the hierarchy is mounted. A container often sees its own group as the mount's root.
void find_mount(const std::string& root, Hierarchy& hierarchy) {
  for (const std::string& line : read_lines(root + "/proc/self/mountinfo")) {
    // 36 25 0:31 ROOT MOUNT_POINT options [optional fields] - TYPE source SUPER_OPTIONS
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> left = split_text(line.substr(0, dash), ' ');
    const std::vector<std::string> right = split_text(line.substr(dash + 3), ' ');
    if (left.size() < 5 || right.size() < 3) continue;
    const bool is_wanted =
        hierarchy.version == 2 ? right[0] == "cgroup2" : right[0] == "cgroup" && contains(right[2], "cpu");
    if (!is_wanted) continue;
    hierarchy.mount_point = left[4];
    const std::string& mounted = left[3];
    if (mounted != "/" && hierarchy.group.rfind(mounted, 0) == 0) hierarchy.group.erase(0, mounted.size());
    if (hierarchy.group == "/" || hierarchy.group.rfind("/..", 0) == 0) hierarchy.group.clear();
    return;
  }
}

std::optional<double> limit_of(const std::string& group, int version, std::string& file) {
  if (version == 2) {
    file = group + "/cpu.max";  // "max 100000", "150000 100000"
    const std::vector<std::string> words = split_text(read_text(file).value_or(""), ' ');
    if (words.size() != 2 || words[0] == "max" || std::atoll(words[1].c_str()) <= 0) return std::nullopt;
    return std::atof(words[0].c_str()) / std::atof(words[1].c_str());
  }
  file = group + "/cpu.cfs_quota_us";  // -1: no limit
  const auto quota = read_number(file);
  const auto period = read_number(group + "/cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

}  // namespace

CpuQuota read_cpu_quota(const std::string& root) {
  // Both versions may be mounted; the cpu controller is in the first if that lists it, else in the second.
  Hierarchy hierarchy;
  for (const std::string& line : read_lines(root + "/proc/self/cgroup")) {
    const std::vector<std::string> parts = split_text(line, ':');  // "4:cpu,cpuacct:/group", "0::/group"
    if (parts.size() < 3) continue;
    const std::string group = line.substr(parts[0].size() + parts[1].size() + 2);
    if (contains(parts[1], "cpu")) {
      hierarchy = {1, {}, group};
      break;
    }
    if (parts[0] == "0" && parts[1].empty()) hierarchy = {2, {}, group};
  }
  CpuQuota quota;
  if (hierarchy.version == 0) return quota;
  find_mount(root, hierarchy);
  if (hierarchy.mount_point.empty()) return quota;
  quota.cgroup_version = hierarchy.version;
  for (std::string group = hierarchy.group;; group.erase(group.find_last_of('/'))) {
    std::string file;
    std::string directory = root;
    directory.append(hierarchy.mount_point).append(group);
    const auto cpus = limit_of(directory, hierarchy.version, file);
    if (cpus && (!quota.cpus || *cpus < *quota.cpus)) {
      quota.cpus = cpus;
      quota.file = file;
    }
    if (group.find('/') == std::string::npos) return quota;
  }
}

}  // namespace millrace
