#include "shared_memory/processors.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace millrace::shared_memory {
namespace {

// Contents of a small file, "" if there is none.
void read_text(const char* path, char* text, std::size_t bytes) {
  text[0] = 0;
  std::FILE* const file = std::fopen(path, "re");
  if (!file) return;
  text[std::fread(text, 1, bytes - 1, file)] = 0;
  std::fclose(file);
}

std::uint64_t hash(const char* text) {
  std::uint64_t value = 0xcbf29ce484222325u;  // FNV-1a
  for (; *text; ++text) value = (value ^ static_cast<unsigned char>(*text)) * 0x100000001b3u;
  return value | 1;
}

void take_quota(const char* directory, double quota, double period, Processors& processors) {
  if (quota <= 0 || period <= 0) return;
  const auto millicores = static_cast<std::uint32_t>(std::min(quota / period * 1000, 4e9));
  if (processors.quota_group != 0 && processors.quota_millicores <= millicores) return;
  processors.quota_group = hash(directory);
  processors.quota_millicores = millicores;
}

// The tightest cpu.max (cgroup v2) from the own group up to the root that is visible.
void read_quota_v2(char* group, Processors& processors) {
  for (;;) {
    char path[700], text[100];
    std::snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
    read_text(path, text, sizeof text);
    double quota = 0, period = 0;
    if (std::sscanf(text, "%lf %lf", &quota, &period) == 2) take_quota(path, quota, period, processors);
    char* const slash = std::strrchr(group, '/');
    if (!slash) return;
    *slash = 0;
  }
}

void read_quota_v1(const char* group, Processors& processors) {
  for (const char* each : {group, ""}) {  // in a container the own group is mounted at the top
    char path[700], text[100];
    std::snprintf(path, sizeof path, "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", each);
    read_text(path, text, sizeof text);
    const double quota = std::atof(text);
    std::snprintf(path, sizeof path, "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", each);
    read_text(path, text, sizeof text);
    take_quota(path, quota, std::atof(text), processors);
  }
}

void read_quota(Processors& processors) {
  char text[4096];
  read_text("/proc/self/cgroup", text, sizeof text);
  char* rest = text;
  while (char* const line = strsep(&rest, "\n")) {
    char* const path = std::strrchr(line, ':');
    if (!path || std::strlen(path) > 600) continue;
    char group[610];
    std::snprintf(group, sizeof group, "%s", std::strcmp(path + 1, "/") == 0 ? "" : path + 1);
    if (std::strncmp(line, "0::", 3) == 0) {
      read_quota_v2(group, processors);
    } else if (std::strstr(line, ":cpu:") || std::strstr(line, ":cpu,") || std::strstr(line, ",cpu:")) {
      read_quota_v1(group, processors);
    }
  }
}

constexpr int nobody = -1;

// One step of Kuhn's matching: finds a processor for `process`, moving others if need be. Depth is at most the number
// of processors, and each frame is small.
bool place(std::span<const Processors> processes, int process, int* taken_by, std::uint64_t* visited) {
  for (std::size_t word = 0; word < most_processors / 64; ++word) {
    for (;;) {
      const std::uint64_t open = processes[static_cast<std::size_t>(process)].mask[word] & ~visited[word];
      if (open == 0) break;
      const auto bit = static_cast<std::size_t>(std::countr_zero(open));
      visited[word] |= std::uint64_t{1} << bit;
      int& owner = taken_by[word * 64 + bit];
      if (owner == nobody || place(processes, owner, taken_by, visited)) {
        owner = process;
        return true;
      }
    }
  }
  return false;
}

bool quota_suffices(std::span<const Processors> processes, const Processors& of) {
  if (of.quota_group == 0) return true;
  const auto members = std::count_if(processes.begin(), processes.end(),
                                     [&](const Processors& each) { return each.quota_group == of.quota_group; });
  return static_cast<std::uint64_t>(members) * 1000 <= of.quota_millicores;
}

}  // namespace

Processors own_processors() {
  Processors processors;
  cpu_set_t* const set = CPU_ALLOC(8192);
  if (set) {
    const std::size_t set_bytes = CPU_ALLOC_SIZE(8192);
    if (sched_getaffinity(0, set_bytes, set) == 0)
      for (std::size_t cpu = 0; cpu < most_processors; ++cpu)
        if (CPU_ISSET_S(cpu, set_bytes, set)) processors.mask[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
    CPU_FREE(set);
  }
  read_quota(processors);
  return processors;
}

bool one_each(std::span<const Processors> processes) {
  for (const Processors& each : processes)
    if (!quota_suffices(processes, each)) return false;
  int taken_by[most_processors];
  std::fill(std::begin(taken_by), std::end(taken_by), nobody);
  for (int process = 0; process < static_cast<int>(processes.size()); ++process) {
    std::uint64_t visited[most_processors / 64] = {};
    if (!place(processes, process, taken_by, visited)) return false;
  }
  return true;
}

}  // namespace millrace::shared_memory
