#include "node/board_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/files.h"

namespace millrace::node {
namespace {

int table_of_descriptors() {
  const std::string status = read_text("/proc/self/status").value_or("");
  return std::atoi(status.c_str() + status.find("\nFDSize:") + 8);
}

int exit_code_of(pid_t child) {
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Where it grows the kernel waits for all processors, if the process has threads. The table of a child is as small as
// what its parent has open allows.
TEST(KeepDescriptor, TheTableOfDescriptorsDoesNotGrow) {
  const pid_t parent = fork();
  if (parent == 0) {
    close_range(3, ~0U, 0);
    const pid_t child = fork();
    if (child != 0) _exit(exit_code_of(child));
    const int before = table_of_descriptors();
    const int kept = keep_descriptor(STDERR_FILENO);
    if (before >= 200) _exit(2);
    _exit(kept >= before - 8 && table_of_descriptors() == before ? 0 : 1);
  }
  EXPECT_EQ(exit_code_of(parent), 0);
}

TEST(KeepDescriptor, ItIsClosedInOtherPrograms) {
  const int made = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int kept = keep_descriptor(made);
  EXPECT_NE(kept, made);
  EXPECT_EQ(fcntl(kept, F_GETFD), FD_CLOEXEC);
  close(kept);
  close(made);
  EXPECT_EQ(keep_descriptor(made), -1);
}

}  // namespace
}  // namespace millrace::node
