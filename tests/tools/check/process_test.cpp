#include "tools/check/process.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace millrace::tools::check {
namespace {

TEST(RunToEnd, KeepsBothStreamsAndTheExitCode) {
  const Finished finished = run_to_end({{"sh", "-c", "echo out; echo err >&2; exit 7"}, {}, {}}, 30);
  EXPECT_EQ(finished.exit_code, 7);
  EXPECT_EQ(finished.output, "out\nerr\n");
  EXPECT_FALSE(finished.timed_out);
}

TEST(RunToEnd, SaysWhichSignalEndedIt) {
  EXPECT_EQ(run_to_end({{"sh", "-c", "kill -9 $$"}, {}, {}}, 30).exit_code, 137);
}

TEST(RunToEnd, EndsWhatDoesNotEnd) {
  const Finished finished = run_to_end({{"sleep", "600"}, {}, {}}, 1);
  EXPECT_TRUE(finished.timed_out);
  EXPECT_EQ(finished.exit_code, -1);
}

TEST(RunToEnd, DoesNotWaitForWhatRunsOnInTheBackground) {
  const Finished finished = run_to_end({{"sh", "-c", "sleep 20 & echo here"}, {}, {}}, 10);
  EXPECT_EQ(finished.output, "here\n");
  EXPECT_FALSE(finished.timed_out);
}

TEST(RunToEnd, HandsDownTheEnvironmentWithoutOurOwnSettings) {
  setenv("MILLRACE_REPORT", "1", 1);
  setenv("CHECK_KEPT", "kept", 1);
  const Finished finished =
      run_to_end({{"sh", "-c", "echo $MILLRACE_REPORT-$CHECK_KEPT-$CHECK_NEW"}, "/", {{"CHECK_NEW", "new"}}}, 30);
  EXPECT_EQ(finished.output, "-kept-new\n");
  unsetenv("MILLRACE_REPORT");
  unsetenv("CHECK_KEPT");
}

TEST(RunToEnd, ReportsWhatCannotBeRun) { EXPECT_EQ(run_to_end({{"/no/such/program"}, {}, {}}, 30).exit_code, 127); }

}  // namespace
}  // namespace millrace::tools::check
