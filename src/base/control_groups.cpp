#include "base/control_groups.h"

#include <algorithm>

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
void find_mount(std::string_view controller, const std::string& root, Hierarchy& hierarchy) {
  for (const std::string& line : read_lines(root + "/proc/self/mountinfo")) {
    // 36 25 0:31 ROOT MOUNT_POINT options [optional fields] - TYPE source SUPER_OPTIONS
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> left = split_text(line.substr(0, dash), ' ');
    const std::vector<std::string> right = split_text(line.substr(dash + 3), ' ');
    if (left.size() < 5 || right.size() < 3) continue;
    const bool is_wanted =
        hierarchy.version == 2 ? right[0] == "cgroup2" : right[0] == "cgroup" && contains(right[2], controller);
    if (!is_wanted) continue;
    hierarchy.mount_point = left[4];
    const std::string& mounted = left[3];
    if (mounted != "/" && hierarchy.group.rfind(mounted, 0) == 0) hierarchy.group.erase(0, mounted.size());
    if (hierarchy.group == "/" || hierarchy.group.rfind("/..", 0) == 0) hierarchy.group.clear();
    return;
  }
}

}  // namespace

ControlGroups control_groups(std::string_view controller, const std::string& root) {
  Hierarchy hierarchy;
  for (const std::string& line : read_lines(root + "/proc/self/cgroup")) {
    const std::vector<std::string> parts = split_text(line, ':');  // "4:cpu,cpuacct:/group", "0::/group"
    if (parts.size() < 3) continue;
    const std::string group = line.substr(parts[0].size() + parts[1].size() + 2);
    if (contains(parts[1], controller)) {
      hierarchy = {1, {}, group};
      break;
    }
    if (parts[0] == "0" && parts[1].empty()) hierarchy = {2, {}, group};
  }
  if (hierarchy.version == 0) return {};
  find_mount(controller, root, hierarchy);
  if (hierarchy.mount_point.empty()) return {};
  ControlGroups groups{hierarchy.version, {}};
  const std::string mount = root + hierarchy.mount_point;
  for (std::string group = hierarchy.group;; group.erase(group.find_last_of('/'))) {
    groups.directories.push_back(mount + group);
    if (group.find('/') == std::string::npos) return groups;
  }
}

}  // namespace millrace
