// Packages, cores, processing units, caches and NUMA nodes, as Linux shows them in /sys. Read directly, without hwloc:
// the launcher must start on nodes that have none, and below hosts that bring one of their own in LD_LIBRARY_PATH.
#pragma once

#include <string>
#include <vector>

namespace millrace::tools {

struct Cache {
  int level = 0;
  std::string type;  // "Data", "Instruction", "Unified"
  long long size_bytes = 0;
  int shared_by = 0;  // processing units
  int count = 0;      // of this kind on the machine
};

struct Processors {
  std::string model;  // "AMD EPYC 9755 128-Core Processor"; may be empty
  int packages = 0;
  int cores = 0;
  int processing_units = 0;  // online
  int numa_nodes = 0;
  std::vector<Cache> caches;  // by level
};

// `root` stands before /proc and /sys; a test gives a recorded machine.
Processors read_processors(const std::string& root = {});

}  // namespace millrace::tools
