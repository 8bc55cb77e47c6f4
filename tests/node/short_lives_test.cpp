#include "node/short_lives.h"

#include <gtest/gtest.h>

namespace millrace::node {
namespace {

// Communicators of `calls` calls each, one after the other: how many of them ranks begin to agree on.
int agreed_on(ShortLives& lives, int communicators, std::uint64_t calls) {
  int agreed = 0;
  for (int made = 0; made < communicators; ++made) {
    const std::uint64_t first = lives.calls_before_agreement();
    if (calls < first) continue;
    ++agreed;
    lives.ended(calls > 2 * first ? calls - 2 * first : 0);
  }
  return agreed;
}

TEST(ShortLives, FewOfManyShortCommunicatorsAreAgreedOn) {
  ShortLives lives;
  EXPECT_EQ(agreed_on(lives, 1000, 12), 1);
  EXPECT_EQ(agreed_on(lives, 1000, 60), 1);
  EXPECT_EQ(lives.calls_before_agreement(), 64);
}

TEST(ShortLives, OneThatLivesIsAgreedOnAndMakesTheNextAgreedOnAtOnce) {
  ShortLives lives;
  agreed_on(lives, 1000, 12);
  EXPECT_EQ(agreed_on(lives, 1, 2000), 1);
  EXPECT_EQ(lives.calls_before_agreement(), ShortLives::least_calls);
}

TEST(ShortLives, WaitsForNoMoreThanAThousandCalls) {
  ShortLives lives;
  for (int made = 0; made < 100; ++made) lives.ended(0);
  EXPECT_EQ(lives.calls_before_agreement(), ShortLives::most_calls);
}

}  // namespace
}  // namespace millrace::node
