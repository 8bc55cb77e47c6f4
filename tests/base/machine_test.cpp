#include "base/machine.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Machine, NamesWhatTheProcessorIs) {
  EXPECT_EQ(machine_name_of("processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
                            "model name\t: AMD EPYC 9B14\n\nprocessor\t: 1\ncpu family\t: 25\nmodel\t\t: 17\n"),
            "AMD EPYC 9B14 (family 25, model 17), 2 processors");
  EXPECT_EQ(machine_name_of("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n"),
            "implementer 0x41, part 0xd40, 1 processors");
  EXPECT_EQ(machine_name_of("processor : 0\ncpu family : 6\nmodel : 207"), "x86 (family 6, model 207), 1 processors");
}

TEST(Machine, SaysSoWhereNothingIsKnown) {
  EXPECT_EQ(machine_name_of(""), "unknown");
  EXPECT_EQ(machine_name_of("no colon here\n: no key\n\n"), "unknown");
}

}  // namespace
}  // namespace millrace
