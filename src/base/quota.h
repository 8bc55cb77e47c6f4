// How much processor time the control groups above this process allow it.
#pragma once

#include <optional>
#include <string>

namespace millrace {

struct CpuQuota {
  int cgroup_version = 0;      // of the hierarchy that limits or could limit; 0: no control groups
  std::optional<double> cpus;  // processors' worth of time; nothing: no limit
  std::string file;            // that sets the limit
};

// The tightest limit from this process's group up to the root. `root` stands before /proc and the mount points.
CpuQuota read_cpu_quota(const std::string& root = {});

}  // namespace millrace
