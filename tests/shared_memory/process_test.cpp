#include "shared_memory/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace millrace::shared_memory {
namespace {

TEST(Process, ItselfIsAlive) {
  const ProcessIdentity self = own_identity();
  EXPECT_EQ(self.pid, getpid());
  if (!MILLRACE_TEST_EMULATED) {
    EXPECT_NE(self.start_time, 0u);
  }
  EXPECT_TRUE(maybe_alive(self, self));
}

// Killed counts as ended at once, also while its parent has not asked for its status.
TEST(Process, IsDeadWhenKilled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const ProcessIdentity identity = own_identity();
    if (write(ends[1], &identity, sizeof identity) < 0) _exit(1);
    for (;;) pause();
  }
  ProcessIdentity identity;
  ASSERT_EQ(read(ends[0], &identity, sizeof identity), static_cast<ssize_t>(sizeof identity));
  EXPECT_TRUE(maybe_alive(identity, own_identity()));
  kill(child, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(maybe_alive(identity, own_identity()));
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(maybe_alive(identity, own_identity()));
  close(ends[0]);
  close(ends[1]);
}

TEST(Process, WithTheSamePidButBornLaterIsAnother) {
  ProcessIdentity other = own_identity();
  other.start_time -= 1;
  EXPECT_FALSE(maybe_alive(other, own_identity()));
}

TEST(Process, OfAnotherPidNamespaceCountsAsAlive) {
  ProcessIdentity other = own_identity();
  other.pid = 999999999;
  EXPECT_FALSE(maybe_alive(other, own_identity()));
  other.pid_namespace += 1;
  EXPECT_TRUE(maybe_alive(other, own_identity()));
}

}  // namespace
}  // namespace millrace::shared_memory
