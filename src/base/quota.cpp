#include "base/quota.h"

#include <cstdlib>
#include <vector>

#include "base/control_groups.h"
#include "base/files.h"

namespace millrace {
namespace {

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
  const ControlGroups groups = control_groups("cpu", root);
  CpuQuota quota;
  quota.cgroup_version = groups.version;
  for (const std::string& directory : groups.directories) {
    std::string file;
    const auto cpus = limit_of(directory, groups.version, file);
    if (cpus && (!quota.cpus || *cpus < *quota.cpus)) {
      quota.cpus = cpus;
      quota.file = file;
    }
  }
  return quota;
}

}  // namespace millrace
