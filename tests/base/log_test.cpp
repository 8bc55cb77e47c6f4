#include "base/log.h"

#include <gtest/gtest.h>

#include "base/settings.h"

namespace millrace {
namespace {

std::string logged(LogLevel wanted, LogLevel level, std::string_view message) {
  const LogLevel before = log_level();
  set_log_level(wanted);
  testing::internal::CaptureStderr();
  log(level, message);
  set_log_level(before);
  return testing::internal::GetCapturedStderr();
}

TEST(Log, LinesCarryTheirLevel) {
  EXPECT_EQ(logged(LogLevel::debug, LogLevel::error, "a"), "millrace: error: a\n");
  EXPECT_EQ(logged(LogLevel::debug, LogLevel::warning, "b"), "millrace: warning: b\n");
  EXPECT_EQ(logged(LogLevel::debug, LogLevel::info, "c"), "millrace: c\n");
  EXPECT_EQ(logged(LogLevel::debug, LogLevel::debug, "d"), "millrace: debug: d\n");
}

TEST(Log, WhatIsNotWantedIsNotWritten) {
  EXPECT_EQ(logged(LogLevel::warning, LogLevel::info, "x"), "");
  EXPECT_EQ(logged(LogLevel::off, LogLevel::error, "x"), "");
  EXPECT_EQ(logged(LogLevel::debug, LogLevel::off, "x"), "");
}

TEST(Log, ALongMessageIsCutToOneLine) {
  const std::string line = logged(LogLevel::error, LogLevel::error, std::string(5000, 'x'));
  EXPECT_EQ(line.size(), 1024u);
  EXPECT_EQ(line.back(), '\n');
}

TEST(Log, EveryValueOfTheSettingIsALevel) {
  EXPECT_EQ(log_level_of("off"), LogLevel::off);
  EXPECT_EQ(log_level_of("error"), LogLevel::error);
  EXPECT_EQ(log_level_of("warning"), LogLevel::warning);
  EXPECT_EQ(log_level_of("info"), LogLevel::info);
  EXPECT_EQ(log_level_of("debug"), LogLevel::debug);
  EXPECT_EQ(log_level_of("anything"), LogLevel::warning);
}

}  // namespace
}  // namespace millrace
