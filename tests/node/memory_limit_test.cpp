#include "node/memory_limit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace millrace::node {
namespace {

namespace fs = std::filesystem;

// A machine with 1000 MiB left, and what `files` adds.
class Machine {
 public:
  Machine() {
    char name[] = "/tmp/millrace-test-XXXXXX";
    root = mkdtemp(name);
    write("/proc/meminfo", "MemTotal: 9999999 kB\nMemAvailable:    1024000 kB\n");
  }
  ~Machine() { fs::remove_all(root); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }
  std::string root;
};

constexpr std::uint64_t mib = 1 << 20;

TEST(MemoryLimit, IsTheMachinesWithoutControlGroups) {
  const Machine machine;
  EXPECT_EQ(MemoryGauge(machine.root).available_bytes(), 1000 * mib);
}

TEST(MemoryLimit, OfTheSecondVersionCountsFilesAsFree) {
  const Machine machine;
  machine.write("/proc/self/cgroup", "0::/a/b\n");
  machine.write("/proc/self/mountinfo", "1 2 0:3 / /cg rw - cgroup2 cgroup2 rw\n");
  machine.write("/cg/a/b/memory.max", "max\n");
  machine.write("/cg/a/b/memory.current", "1\n");
  machine.write("/cg/a/memory.max", std::to_string(300 * mib));
  machine.write("/cg/a/memory.current", std::to_string(250 * mib));
  machine.write("/cg/a/memory.stat", "anon 1\ninactive_file " + std::to_string(20 * mib) + "\nactive_file " +
                                         std::to_string(30 * mib) + "\n");
  EXPECT_EQ(MemoryGauge(machine.root).available_bytes(), 100 * mib);
}

TEST(MemoryLimit, OfTheFirstVersion) {
  const Machine machine;
  machine.write("/proc/self/cgroup", "4:memory:/a\n");
  machine.write("/proc/self/mountinfo", "1 2 0:3 / /cg/memory rw - cgroup cgroup rw,memory\n");
  machine.write("/cg/memory/a/memory.limit_in_bytes", std::to_string(300 * mib));
  machine.write("/cg/memory/a/memory.usage_in_bytes", std::to_string(300 * mib));
  machine.write("/cg/memory/a/memory.stat", "total_inactive_file 0\ntotal_active_file " + std::to_string(40 * mib));
  EXPECT_EQ(MemoryGauge(machine.root).available_bytes(), 40 * mib);
}

// A job's processes may be moved to other groups while they run, and what is left changes with every page.
TEST(MemoryLimit, FollowsTheProcessAndWhatIsLeft) {
  const Machine machine;
  machine.write("/proc/self/cgroup", "0::/a\n");
  machine.write("/proc/self/mountinfo", "1 2 0:3 / /cg rw - cgroup2 cgroup2 rw\n");
  for (const char* group : {"/cg/a", "/cg/b"}) {
    machine.write(group + std::string("/memory.max"), std::to_string(300 * mib));
    machine.write(group + std::string("/memory.current"), std::to_string(100 * mib));
  }
  MemoryGauge gauge(machine.root);
  EXPECT_EQ(gauge.available_bytes(), 200 * mib);
  machine.write("/cg/a/memory.current", std::to_string(120 * mib));
  EXPECT_EQ(gauge.available_bytes(), 180 * mib);
  machine.write("/cg/a/memory.max", std::to_string(130 * mib));
  EXPECT_EQ(gauge.available_bytes(), 10 * mib);
  machine.write("/proc/self/cgroup", "0::/b\n");
  EXPECT_EQ(gauge.available_bytes(), 200 * mib);
  machine.write("/proc/meminfo", "MemAvailable: 1024 kB\n");
  EXPECT_EQ(gauge.available_bytes(), mib);
}

TEST(MemoryLimit, IsReadAgainAfterAWhile) {
  const Machine machine;
  MemoryGauge gauge(machine.root);
  constexpr std::uint64_t start_ns = 1'000'000'000;
  EXPECT_EQ(gauge.recent_bytes(start_ns), 1000 * mib);
  machine.write("/proc/meminfo", "MemAvailable: 1024 kB\n");
  EXPECT_EQ(gauge.recent_bytes(start_ns + MemoryGauge::recent_ns), 1000 * mib);
  EXPECT_EQ(gauge.recent_bytes(start_ns + MemoryGauge::recent_ns + 1), mib);
}

TEST(MemoryLimit, IsNotKnownWhereNothingCanBeRead) {
  const Machine machine;
  EXPECT_EQ(MemoryGauge(machine.root + "/nowhere").available_bytes(), 0);
}

}  // namespace
}  // namespace millrace::node
