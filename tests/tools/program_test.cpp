#include "tools/program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "scratch.h"
#include "tools/privileges.h"

namespace millrace::tools {
namespace {

TEST(Program, PathsAreTakenApart) {
  EXPECT_EQ(base_name("/usr/bin/env"), "env");
  EXPECT_EQ(base_name("env"), "env");
  EXPECT_EQ(directory_name("/usr/bin/env"), "/usr/bin");
  EXPECT_EQ(directory_name("/env"), "/");
  EXPECT_EQ(directory_name("env"), ".");
}

TEST(Program, TheSearchGoesOnAsExecvpsDoes) {
  const Scratch scratch;
  scratch.write("first/tool", "text");  // not executable: looked at, passed over
  const std::string wanted = scratch.write("second/tool", "text", true);
  scratch.write("third/tool", "text", true);
  const std::string path =
      scratch.path() + "/none:" + scratch.path() + "/first:" + scratch.path() + "/second:" + scratch.path() + "/third";
  EXPECT_EQ(find_program("tool", path).path, wanted);
  EXPECT_EQ(find_program("tool", scratch.path() + "/first").error, EACCES);
  EXPECT_EQ(find_program("tool", scratch.path()).error, ENOENT);
  EXPECT_EQ(find_program("", path).error, ENOENT);
}

TEST(Program, ASlashSkipsTheSearch) {
  const Scratch scratch;
  const std::string tool = scratch.write("tool", "text", true);
  EXPECT_EQ(find_program(tool, "").path, tool);
  EXPECT_EQ(find_program("./tool", scratch.path()).error, ENOENT);
  EXPECT_EQ(find_program(scratch.path(), "").error, EISDIR);
}

TEST(Program, TheInterpretersLineIsSplitAsLinuxDoes) {
  const Scratch scratch;
  const auto words = [&](std::string_view text) { return script_interpreter(scratch.write("script", text)); };
  using Words = std::vector<std::string>;
  EXPECT_EQ(words("#!/bin/sh\n"), Words{"/bin/sh"});
  EXPECT_EQ(words("#! /usr/bin/env -S python3 -u \nprint()"), (Words{"/usr/bin/env", "-S python3 -u"}));
  EXPECT_EQ(words("#!/bin/sh"), Words{"/bin/sh"});
  EXPECT_EQ(words("#!\n"), Words{});
  EXPECT_EQ(words("# comment\n"), Words{});
  EXPECT_EQ(words(""), Words{});
}

TEST(Program, ScriptsAreFollowedToTheirBinary) {
  const Scratch scratch;
  const std::string binary = scratch.write("python3", std::string_view("\177ELF\0", 5), true);
  const std::string inner = scratch.write("inner", "#!" + binary + "\n", true);
  const std::string outer = scratch.write("outer", "#!" + inner + "\n", true);
  EXPECT_EQ(find_binary(outer, "").path, binary);
  const std::string by_env = scratch.write("by_env", "#!/usr/bin/env -S A=b python3 -u\n", true);
  EXPECT_EQ(find_binary(by_env, scratch.path()).path, binary);
  EXPECT_EQ(find_binary(scratch.write("plain", "echo no first line\n", true), "").path, "/bin/sh");
  EXPECT_EQ(find_binary(scratch.write("orphan", "#!/no/such/shell\n", true), "").error, ENOENT);
  const std::string loop = scratch.path() + "/loop";
  scratch.write("loop", "#!" + loop + "\n", true);
  EXPECT_EQ(find_binary(loop, "").path, loop);  // the kernel refuses it; here it only has to end
}

TEST(Privileges, SetuidFilesOfOthersGainThem) {
  if (getuid() != 0) GTEST_SKIP() << "needs root to give files away";
  const Scratch scratch;
  const std::string file = scratch.write("tool", "text", true);
  EXPECT_FALSE(gains_privileges(file));
  ASSERT_EQ(chown(file.c_str(), 1234, 1235), 0);
  EXPECT_FALSE(gains_privileges(file));
  std::filesystem::permissions(file, std::filesystem::perms::set_uid, std::filesystem::perm_options::add);
  EXPECT_TRUE(gains_privileges(file));
  ASSERT_EQ(chown(file.c_str(), 0, 0), 0);
  std::filesystem::permissions(file, std::filesystem::perms::set_uid, std::filesystem::perm_options::add);
  EXPECT_FALSE(gains_privileges(file));  // root's setuid file gains root nothing
}

}  // namespace
}  // namespace millrace::tools
