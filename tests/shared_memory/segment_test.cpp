#include "shared_memory/segment.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

namespace millrace::shared_memory {
namespace {

constexpr std::size_t bytes = 1 << 20;

class Segments : public testing::TestWithParam<SegmentKind> {};

// A child opens by the name alone, writes, and the parent reads it.
TEST_P(Segments, AreSeenByAnotherProcess) {
  Segment segment;
  ASSERT_EQ(create_segment(GetParam(), bytes, segment), Status::ok);
  ASSERT_EQ(reserve_pages(segment, 0, bytes), Status::ok);
  EXPECT_EQ(segment.base[bytes - 1], 0);
  const SegmentName name = segment.name;
  const pid_t child = fork();
  if (child == 0) {
    munmap(segment.base, segment.bytes);
    Segment opened;
    if (open_segment(GetParam(), name, bytes, opened) != Status::ok) _exit(1);
    std::strcpy(opened.base + bytes - 8, "here");
    close_segment(opened);
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_STREQ(segment.base + bytes - 8, "here");
  close_segment(segment);
}

TEST_P(Segments, LeaveNothingOnceForgotten) {
  Segment segment;
  ASSERT_EQ(create_segment(GetParam(), bytes, segment), Status::ok);
  const std::string path = GetParam() == SegmentKind::shm_open ? std::string("/dev/shm") + segment.name.text
                                                               : std::string(segment.name.text);
  EXPECT_TRUE(std::filesystem::exists(path));
  forget_name(segment);
  EXPECT_FALSE(std::filesystem::exists(path));
  segment.base[0] = 1;  // still mapped
  close_segment(segment);
  EXPECT_EQ(segment.base, nullptr);
}

TEST_P(Segments, OfAnotherSizeAreRefused) {
  Segment segment, opened;
  ASSERT_EQ(create_segment(GetParam(), bytes, segment), Status::ok);
  EXPECT_EQ(open_segment(GetParam(), segment.name, bytes * 2, opened), Status::system_error);
  EXPECT_EQ(opened.base, nullptr);
  close_segment(segment);
}

TEST_P(Segments, ThatAreGoneAreRefused) {
  Segment segment, opened;
  ASSERT_EQ(create_segment(GetParam(), bytes, segment), Status::ok);
  const SegmentName name = segment.name;
  close_segment(segment);
  EXPECT_EQ(open_segment(GetParam(), name, bytes, opened), Status::system_error);
}

// Where there is no room, reserving says so, instead of a SIGBUS later on. The kernel compares with the size of the
// file system before it takes a page. (A memfd has no limit but the machine's memory, which a test had better not
// take.)
TEST(Segment, WithoutRoomSaysSo) {
  struct statvfs system {};
  if (statvfs("/dev/shm", &system) != 0 || system.f_blocks == 0) GTEST_SKIP() << "/dev/shm has no limit";
  const std::size_t too_many = (system.f_blocks + 16) * system.f_bsize;
  Segment segment;
  ASSERT_EQ(create_segment(SegmentKind::shm_open, too_many, segment), Status::ok);
  EXPECT_EQ(reserve_pages(segment, 0, too_many), Status::no_memory);
  EXPECT_EQ(reserve_pages(segment, 0, 4096), Status::ok);
  EXPECT_EQ(reserve_pages(segment, too_many, 4096), Status::bad_argument);
  close_segment(segment);
}

std::string kind_name(const testing::TestParamInfo<SegmentKind>& each) {
  return each.param == SegmentKind::memfd ? "memfd" : each.param == SegmentKind::unnamed ? "unnamed" : "shm_open";
}

INSTANTIATE_TEST_SUITE_P(Each, Segments,
                         testing::Values(SegmentKind::memfd, SegmentKind::unnamed, SegmentKind::shm_open), kind_name);

}  // namespace
}  // namespace millrace::shared_memory
