// Topologies in files: as hwloc writes them, and as the kernel shows them.
#include <gtest/gtest.h>

#include <string>

#include "model/machine.h"
#include "tests/tools/scratch.h"

namespace millrace::model {
namespace {

std::string read_xml(std::string_view text) {
  Machine machine;
  const std::string wrong = read_hwloc_xml(text, machine);
  return wrong.empty() ? machine_text(machine) : wrong;
}

std::string core(int threads) {
  std::string text =
      R"(<object type="L1Cache" cache_type="1"><object type="L1iCache" cache_type="2"><object type="Core">)";
  for (int thread = 0; thread < threads; ++thread) text += R"(<object type="PU" os_index="0"/>)";
  return text + "</object></object></object>";
}

TEST(HwlocXml, CoresOfTwoKindsAndCachesOfTwoLevels) {
  const std::string text = R"(<?xml version="1.0"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0">
    <object type="Machine"><info name="Backend" value="Linux"/><object type="NUMANode"/><object type="Package">
    <object type="L3Cache" cache_type="0"><object type="L2Cache" cache_type="0">)" +
                           core(2) + R"(</object><object type="L2Cache" cache_type="0">)" + core(1) + core(1) +
                           R"(</object></object><object type="L2Cache" cache_type="0">)" + core(1) +
                           "</object></object></object></topology>";
  EXPECT_EQ(read_xml(text), "pack:1 l3:1 core:1 pu:2 + core:2 + l3:1 core:1");
}

TEST(HwlocXml, VersionOneHasSocketsAndCaches) {
  const std::string socket = R"(<object type="Socket"><object type="Cache" depth="2" cache_type="0">
      <object type="Core"><object type="PU"></object></object></object></object>)";
  EXPECT_EQ(read_xml("<topology><object type=\"Machine\">" + socket + socket + "</object></topology>"),
            "pack:2 l3:1 core:1");
}

TEST(HwlocXml, WhatIsNoTopologyIsNamed) {
  EXPECT_EQ(read_xml("<html></html>"), "no topology of hwloc");
  EXPECT_EQ(read_xml("<topology></topology>"), "no cores");
  EXPECT_EQ(read_xml("<topology></object></topology>"), "an object ends that has not begun");
  EXPECT_EQ(read_xml("<topology><object type=\"Machine\">"), "an object does not end");
}

class System : public testing::Test {
 protected:
  void processor(int number, const char* package, const char* siblings, const std::string& sharers_file,
                 const char* sharers) {
    const std::string directory = "sys/devices/system/cpu/cpu" + std::to_string(number);
    root.write(directory + "/topology/physical_package_id", package);
    root.write(directory + "/topology/thread_siblings_list", siblings);
    // The first level is of each core alone.
    root.write(directory + "/cache/index0/shared_cpu_list", siblings);
    root.write(directory + "/cache/index2/" + sharers_file, sharers);
  }
  std::string read() {
    Machine machine;
    const std::string wrong = read_system(root.path(), machine);
    return wrong.empty() ? machine_text(machine) : wrong;
  }
  tools::Scratch root;
};

// Numbers as Linux gives them to the threads of two packages: first one of each core, then the others.
TEST_F(System, CachesAreThoseWhoShareThem) {
  root.write("sys/devices/system/cpu/online", "0-7\n");
  for (int number = 0; number < 8; ++number) {
    const int core = number % 4;
    const std::string siblings = std::to_string(core) + "," + std::to_string(core + 4) + "\n";
    processor(number, core < 2 ? "0\n" : "36\n", siblings.c_str(), "shared_cpu_list",
              core < 2 ? "0-1,4-5\n" : "2-3,6-7\n");
  }
  EXPECT_EQ(read(), "pack:2 l3:1 core:2 pu:2");
}

// POWER: no lists, packages that are not known, and processors above the 32nd.
TEST_F(System, MasksStandForLists) {
  root.write("sys/devices/system/cpu/online", "0,32-33\n");
  processor(0, "-1\n", "0\n", "shared_cpu_map", "00000000,00000001\n");
  processor(32, "-1\n", "32\n", "shared_cpu_map", "00000003,00000000\n");
  processor(33, "-1\n", "33\n", "shared_cpu_map", "00000003,00000000\n");
  EXPECT_EQ(read(), "pack:1 l3:1 core:1 + l3:1 core:2");
}

// A cache of another level with the same id is another cache.
TEST_F(System, IdsOfTwoLevelsAreNotMixedUp) {
  root.write("sys/devices/system/cpu/online", "0-2\n");
  for (int number = 0; number < 3; ++number) {
    processor(number, "0\n", (std::to_string(number) + "\n").c_str(), "shared_cpu_list", number < 2 ? "0-1\n" : "2\n");
    root.write("sys/devices/system/cpu/cpu" + std::to_string(number) + "/cache/index2/id", "0\n");
  }
  EXPECT_EQ(read(), "pack:1 l3:1 core:2 + l3:1 core:1");
}

TEST_F(System, WithoutProcessorsItSaysWhere) { EXPECT_NE(read().find("/sys/devices/system/cpu"), std::string::npos); }

}  // namespace
}  // namespace millrace::model
