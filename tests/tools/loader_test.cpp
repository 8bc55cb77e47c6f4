#include "tools/loader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tools/elf.h"

namespace millrace::tools {
namespace {

TEST(Loader, TheListIsTakenApart) {
  const auto libraries = parse_loader_list(
      "\tlinux-vdso.so.1 (0x00007ffd)\n"
      "\tlibmpi.so.40 => /opt/an mpi (new)/libmpi.so.40 (0x00007f00)\n"
      "\tlibgone.so.1 => not found\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f01)\n"
      "a line of something else\n");
  ASSERT_EQ(libraries.size(), 4u);
  EXPECT_EQ(libraries[1].name, "libmpi.so.40");
  EXPECT_EQ(libraries[1].path, "/opt/an mpi (new)/libmpi.so.40");
  EXPECT_EQ(libraries[2].name, "libgone.so.1");
  EXPECT_EQ(libraries[2].path, "");
  EXPECT_EQ(libraries[3].path, "/lib64/ld-linux-x86-64.so.2");
  EXPECT_TRUE(parse_loader_list("").empty());
  EXPECT_EQ(parse_loader_list("\tlibc.so.6 => /lib/libc.so.6 (0x1)").size(), 1u);  // no line end
}

TEST(Loader, AProgramsLibrariesAreFoundWithoutRunningIt) {
  const auto self = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(self);
  const auto libraries =
      needed_libraries(std::string(self->loader()), std::filesystem::canonical("/proc/self/exe"), environ);
  ASSERT_TRUE(libraries);
  const auto libc = std::find_if(libraries->begin(), libraries->end(),
                                 [](const NeededLibrary& library) { return library.name == "libc.so.6"; });
  ASSERT_NE(libc, libraries->end());
  EXPECT_EQ(access(libc->path.c_str(), R_OK), 0);
}

TEST(Loader, AMissingLoaderIsNoAnswer) { EXPECT_FALSE(needed_libraries("/no/such/loader", "/bin/true", environ)); }

}  // namespace
}  // namespace millrace::tools
