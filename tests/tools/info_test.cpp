#include <gtest/gtest.h>

#include "base/affinity.h"
#include "base/files.h"
#include "base/quota.h"
#include "scratch.h"
#include "tools/info/processors.h"

namespace millrace::tools {
namespace {

TEST(ProcessorList, IsReadAndWrittenAsTheKernelDoes) {
  EXPECT_EQ(parse_list("0-3,8,10-11"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(format_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
  EXPECT_TRUE(parse_list("").empty());
  EXPECT_EQ(format_list({}), "");
  EXPECT_EQ(parse_list("nonsense,5"), std::vector<int>{5});
}

// Two packages of two cores with two threads each, threads numbered as Linux does: 0-3 first, then their siblings 4-7.
TEST(Processors, ATwoSocketMachineIsCounted) {
  const Scratch root;
  root.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: A Processor\n");
  root.write("sys/devices/system/cpu/online", "0-7\n");
  root.write("sys/devices/system/node/online", "0-1\n");
  for (int cpu = 0; cpu < 8; ++cpu) {
    const std::string directory = "sys/devices/system/cpu/cpu" + std::to_string(cpu);
    const std::string core = std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4) + "\n";
    const std::string package = cpu % 4 < 2 ? "0-1,4-5\n" : "2-3,6-7\n";
    root.write(directory + "/topology/physical_package_id", cpu % 4 < 2 ? "0\n" : "1\n");
    root.write(directory + "/topology/thread_siblings_list", core);
    const char* caches[][4] = {{"1", "Data", "32K", core.c_str()}, {"3", "Unified", "16M", package.c_str()}};
    for (int index = 0; index < 2; ++index) {
      const std::string cache = directory + "/cache/index" + std::to_string(index);
      root.write(cache + "/level", caches[index][0]);
      root.write(cache + "/type", caches[index][1]);
      root.write(cache + "/size", caches[index][2]);
      root.write(cache + "/shared_cpu_list", caches[index][3]);
    }
  }
  const Processors found = read_processors(root.path());
  EXPECT_EQ(found.model, "A Processor");
  EXPECT_EQ(found.packages, 2);
  EXPECT_EQ(found.cores, 4);
  EXPECT_EQ(found.processing_units, 8);
  EXPECT_EQ(found.numa_nodes, 2);
  ASSERT_EQ(found.caches.size(), 2u);
  EXPECT_EQ(found.caches[0].count, 4);
  EXPECT_EQ(found.caches[0].size_bytes, 32 * 1024);
  EXPECT_EQ(found.caches[1].count, 2);
  EXPECT_EQ(found.caches[1].shared_by, 4);
  EXPECT_EQ(found.caches[1].size_bytes, 16 * 1024 * 1024);
}

TEST(Processors, ThisMachineHasSome) {
  const Processors found = read_processors();
  EXPECT_GE(found.processing_units, found.cores);
  EXPECT_GE(found.cores, found.packages);
  EXPECT_GE(found.packages, 1);
  EXPECT_GE(allowed_processors().size(), 1u);
}

constexpr const char* version_2_mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(Quota, TheTightestGroupAboveCounts) {
  const Scratch root;
  root.write("proc/self/cgroup", "0::/slice/job\n");
  root.write("proc/self/mountinfo", version_2_mount);
  root.write("sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
  root.write("sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
  CpuQuota quota = read_cpu_quota(root.path());
  EXPECT_EQ(quota.cgroup_version, 2);
  ASSERT_TRUE(quota.cpus);
  EXPECT_DOUBLE_EQ(*quota.cpus, 1.5);
  EXPECT_EQ(quota.file, root.path() + "/sys/fs/cgroup/slice/cpu.max");
  root.write("sys/fs/cgroup/slice/job/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(*read_cpu_quota(root.path()).cpus, 0.5);
}

TEST(Quota, AContainerSeesItsGroupAsTheRoot) {
  const Scratch root;
  root.write("proc/self/cgroup", "0::/\n");
  root.write("proc/self/mountinfo", version_2_mount);
  root.write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_DOUBLE_EQ(*read_cpu_quota(root.path()).cpus, 2);
  // Or, without a namespace of its own, as the mount's root.
  root.write("proc/self/cgroup", "0::/docker/1234\n");
  root.write("proc/self/mountinfo", "30 23 0:26 /docker/1234 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  EXPECT_DOUBLE_EQ(*read_cpu_quota(root.path()).cpus, 2);
}

TEST(Quota, VersionOneIsReadFromItsCpuController) {
  const Scratch root;
  root.write("proc/self/cgroup", "5:cpuset:/other\n4:cpu,cpuacct:/job\n0::/unified\n");
  root.write("proc/self/mountinfo",
             "31 23 0:27 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n"
             "32 23 0:28 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n" +
                 std::string(version_2_mount));
  root.write("cg/cpu/job/cpu.cfs_quota_us", "250000\n");
  root.write("cg/cpu/job/cpu.cfs_period_us", "100000\n");
  root.write("cg/cpu/cpu.cfs_quota_us", "-1\n");
  root.write("cg/cpu/cpu.cfs_period_us", "100000\n");
  const CpuQuota quota = read_cpu_quota(root.path());
  EXPECT_EQ(quota.cgroup_version, 1);
  EXPECT_DOUBLE_EQ(*quota.cpus, 2.5);
}

TEST(Quota, NoLimitAndNoGroups) {
  const Scratch root;
  EXPECT_EQ(read_cpu_quota(root.path()).cgroup_version, 0);
  root.write("proc/self/cgroup", "0::/job\n");
  root.write("proc/self/mountinfo", version_2_mount);
  const CpuQuota quota = read_cpu_quota(root.path());
  EXPECT_EQ(quota.cgroup_version, 2);
  EXPECT_FALSE(quota.cpus);
}

}  // namespace
}  // namespace millrace::tools
