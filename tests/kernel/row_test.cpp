#include "kernel/copy/row.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "arena.h"
#include "data.h"

namespace millrace::kernel::test {
namespace {

using Copy = void (*)(void*, const void*, std::size_t);
constexpr std::size_t most_bytes = 20000,
                      lengths[] = {0, 1, 63, 64, 127, 255, 256, 300, 2047, 2048, 2049, 4096, 12345, most_bytes};

std::vector<char> random_bytes() {
  Random random(test_seed());
  std::vector<char> bytes(most_bytes + 64);
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Of processors that are not here as well.
class AssumedPace : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { assume_string_copies(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Row, AssumedPace, ::testing::Bool());

// Reads and writes nothing outside, whatever both ends are aligned to: both buffers lie before pages that fault.
TEST_P(AssumedPace, CopiesEveryByteAndNoOther) {
  const std::vector<char> content = random_bytes(), before(most_bytes, 0x33);
  Arena source(most_bytes), target(most_bytes);
  for (const Copy copy : {Copy{copy_row}, Copy{copy_row_streaming}})
    for (std::size_t from_slack = 0; from_slack < 64; from_slack += test_fully() ? 1 : 9)
      for (std::size_t to_slack = 0; to_slack < 64; to_slack += test_fully() ? 1 : 5)
        for (const std::size_t length : lengths) {
          const char* const from = source.place(content.data(), length, from_slack);
          char* const to = target.place(before.data(), length, to_slack);
          copy(to, from, length);
          ASSERT_TRUE(length == 0 || std::memcmp(to, content.data(), length) == 0) << length << ' ' << to_slack;
          ASSERT_TRUE(target.surroundings_intact()) << length << ' ' << to_slack;
        }
}

// Every distance between the two within a page, so those too for which there is a loop of its own.
TEST_P(AssumedPace, CopiesAtEveryDistance) {
  constexpr std::size_t page_bytes = 4096, length = 5000;
  const std::vector<char> content = random_bytes();
  std::vector<char> target(3 * page_bytes);
  for (std::size_t distance = 0; distance < page_bytes; distance += distance < 80 ? 1 : 97) {
    const std::size_t aligned = (reinterpret_cast<std::uintptr_t>(content.data()) + distance -
                                 reinterpret_cast<std::uintptr_t>(target.data())) %
                                page_bytes;
    char* const to = target.data() + aligned;
    std::memset(target.data(), 0, target.size());
    copy_row(to, content.data(), length);
    ASSERT_EQ(std::memcmp(to, content.data(), length), 0) << distance;
    for (std::size_t at = 0; at < target.size(); ++at)
      ASSERT_TRUE((at >= aligned && at < aligned + length) || target[at] == 0) << distance << ' ' << at;
  }
}

// For which there is another instruction.
TEST_P(AssumedPace, CopiesLongRows) {
  constexpr std::size_t long_bytes = std::size_t{1} << 20, surroundings = 128;
  Random random(test_seed());
  std::vector<char> content(long_bytes + 200);
  for (char& byte : content) byte = static_cast<char>(random());
  for (const std::size_t length : {long_bytes - 1, long_bytes, long_bytes + 1, long_bytes + 77})
    for (const std::size_t distance : {0, 1, 16, 64, 100}) {
      std::vector<char> target(length + 2 * surroundings, 0x5a);
      copy_row(target.data() + surroundings, content.data() + distance, length);
      ASSERT_EQ(std::memcmp(target.data() + surroundings, content.data() + distance, length), 0) << length;
      for (std::size_t at = 0; at < surroundings; ++at)
        ASSERT_TRUE(target[at] == 0x5a && target[surroundings + length + at] == 0x5a) << length << ' ' << at;
    }
}

TEST_P(AssumedPace, KnowsWhereStringCopiesAreSlow) {
  const bool is_slow = can_stream && GetParam();
  alignas(4096) static char pages[3 * 4096];
  EXPECT_FALSE(string_copy_is_slow(pages, pages + 4096));
  EXPECT_EQ(string_copy_is_slow(pages + 16, pages), is_slow);
  EXPECT_EQ(string_copy_is_slow(pages + 16, pages + 4096), is_slow);
  EXPECT_EQ(string_copy_is_slow(pages + 8192 + 5, pages + 4096), is_slow);
  EXPECT_FALSE(string_copy_is_slow(pages, pages + 16));
  EXPECT_FALSE(string_copy_is_slow(pages + 128, pages));
}

}  // namespace
}  // namespace millrace::kernel::test
