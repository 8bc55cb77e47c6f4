#include "tools/progress.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

namespace millrace::tools {
namespace {

std::string all_of(int descriptor) {
  char text[4096];
  const ssize_t length = read(descriptor, text, sizeof text);
  return length > 0 ? std::string(text, static_cast<std::size_t>(length)) : std::string();
}

TEST(Progress, ALineForEachStepWhereNobodyWatches) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    Progress progress("millrace tune", ends[1]);
    progress.step("copies");
    progress.part(1, 3);  // a moment later: nothing is worth saying yet
    progress.step("messages");
  }
  EXPECT_EQ(all_of(ends[0]), "millrace tune: copies\nmillrace tune: messages\n");
  close(ends[0]);
  close(ends[1]);
}

TEST(Progress, OneLineOnATerminalWithTheTimeLeft) {
  int watcher = -1, terminal = -1;
  ASSERT_EQ(openpty(&watcher, &terminal, nullptr, nullptr, nullptr), 0);
  {
    Progress progress("millrace tune", terminal);
    progress.step("copies");
    usleep(250'000);
    progress.part(0, 3);  // nothing can be said from nothing
    progress.part(1, 3);
  }
  std::string text;
  while (text.find("left") == std::string::npos || !text.ends_with("\033[K")) text += all_of(watcher);
  EXPECT_EQ(text, "\r\033[Kmillrace tune: copies\r\033[Kmillrace tune: copies: 1 of 3, about 1 s left\r\033[K");
  close(watcher);
  close(terminal);
}

TEST(Progress, TimesAreRough) {
  EXPECT_EQ(rough_time(0.1), "1 s");
  EXPECT_EQ(rough_time(61.2), "62 s");
  EXPECT_EQ(rough_time(240), "4 min");
  EXPECT_EQ(rough_time(7200), "2 h");
}

}  // namespace
}  // namespace millrace::tools
