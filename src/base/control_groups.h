// The control groups (version 1 or 2) that limit this process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace {

struct ControlGroups {
  int version = 0;                       // of the hierarchy that has the controller; 0: none
  std::vector<std::string> directories;  // of this process's group and all above it, up to the mount point
};

// Both versions may be mounted; a controller ("cpu", "memory") is in the first if that lists it, else in the second.
// `root` stands before /proc and the mount points.
ControlGroups control_groups(std::string_view controller, const std::string& root = {});

}  // namespace millrace
