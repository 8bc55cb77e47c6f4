#include "model/machine.h"

#include <gtest/gtest.h>

namespace millrace::model {
namespace {

TEST(Machine, SyntheticTopology) {
  Machine machine;
  ASSERT_EQ(read_machine("pack:2 l3:8 core:8", machine), "");
  EXPECT_EQ(machine.packages, 2u);
  EXPECT_EQ(machine.caches, 16u);
  EXPECT_EQ(machine.core_count(), 128u);
  EXPECT_EQ(machine.between(0, 0), Distance::none);
  EXPECT_EQ(machine.between(0, 7), Distance::cache);
  EXPECT_EQ(machine.between(0, 8), Distance::package);
  EXPECT_EQ(machine.between(63, 64), Distance::across);
}

// As `lstopo --of synthetic` writes it.
TEST(Machine, WhatHwlocPrintsOfARealMachine) {
  Machine machine;
  ASSERT_EQ(read_machine("Package:2 [NUMANode(memory=1000 indexes=0,1)] L3Cache:3(size=32 shared) L2Cache:4(size=1) "
                         "L1dCache:1 Core:1 PU:2(indexes=2*12:1*2)",
                         machine),
            "");
  EXPECT_EQ(machine.packages, 2u);
  EXPECT_EQ(machine.caches, 6u);
  EXPECT_EQ(machine.core_count(), 24u);
}

TEST(Machine, WithoutCachesAPackageIsOne) {
  Machine machine;
  ASSERT_EQ(read_machine("pack:2 core:4", machine), "");
  EXPECT_EQ(machine.between(0, 3), Distance::cache);
  EXPECT_EQ(machine.between(3, 4), Distance::across);
}

TEST(Machine, WhatCannotBeReadIsNamed) {
  Machine machine;
  for (const char* const wrong :
       {"", "pack:2", "core", "core:0", "core:x", "core:-1", "core:4097", "pack:100 core:100"})
    EXPECT_NE(read_machine(wrong, machine), "") << wrong;
  EXPECT_NE(read_machine("pack:2 kern:8", machine).find("kern:8"), std::string::npos);
}

}  // namespace
}  // namespace millrace::model
