#include "threads/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace millrace::threads {
namespace {

TEST(Split, EveryElementIsInExactlyOnePart) {
  for (const std::size_t elements : {0u, 1u, 63u, 64u, 65u, 127u, 128u, 1000u, 4097u, 1u << 20}) {
    for (unsigned parts = 1; parts <= 70; ++parts) {
      std::size_t next = 0;
      for (unsigned index = 0; index < parts; ++index) {
        const Range range = part_of(elements, index, parts);
        ASSERT_EQ(range.begin, next) << elements << " in " << parts;
        ASSERT_LE(range.begin, range.end);
        next = range.end;
      }
      ASSERT_EQ(next, elements);
    }
  }
}

TEST(Split, PartsDifferByOneGrainAtMostAndBeginAtOne) {
  for (const std::size_t elements : {640u, 641u, 99999u}) {
    std::size_t least = elements, most = 0;
    for (unsigned index = 0; index < 7; ++index) {
      const Range range = part_of(elements, index, 7);
      EXPECT_EQ(range.begin % 64, 0u);
      least = std::min(least, range.end - range.begin);
      most = std::max(most, range.end - range.begin);
    }
    EXPECT_LE(most - least, 127u);  // the last part may also lack what the last grain lacks
  }
}

TEST(Split, HasNoOverflowAtTheEndOfTheAddressSpace) {
  const std::size_t elements = PTRDIFF_MAX;
  EXPECT_EQ(part_of(elements, 1023, 1024).end, elements);
  EXPECT_EQ(part_of(elements, 0, 1024).end, part_of(elements, 1, 1024).begin);
}

}  // namespace
}  // namespace millrace::threads
