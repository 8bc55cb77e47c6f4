#include "collective/copy_choice.h"

#include <gtest/gtest.h>

namespace millrace::collective::test {
namespace {

constexpr std::size_t bytes = 300000;

// How many of `calls` are copied once, where one copy costs `one` and two cost `two`.
int copied_once(CopyChoice& choice, int calls, std::uint64_t one, std::uint64_t two) {
  int once = 0;
  for (int call = 0; call < calls; ++call) {
    const Copies copies = choice.choose(bytes);
    once += copies == Copies::one ? 1 : 0;
    choice.add(bytes, copies, copies == Copies::one ? one : two);
  }
  return once;
}

TEST(CopyChoice, TakesWhatCostsLess) {
  CopyChoice choice;
  EXPECT_GE(copied_once(choice, 320, 100, 200), 300);
  CopyChoice other;
  EXPECT_LE(copied_once(other, 320, 200, 100), 20);
}

// The machine changes: within two tries of the other way, and as many calls as lie between.
TEST(CopyChoice, FollowsTheMachine) {
  CopyChoice choice;
  copied_once(choice, 100, 100, 200);
  copied_once(choice, 200, 400, 200);
  EXPECT_LE(copied_once(choice, 320, 400, 200), 20);
  copied_once(choice, 200, 100, 200);
  EXPECT_GE(copied_once(choice, 320, 100, 200), 300);
}

TEST(CopyChoice, IsNotImpressedByADelay) {
  CopyChoice choice;
  copied_once(choice, 50, 100, 200);
  for (int delay = 0; delay < 3; ++delay) choice.add(bytes, Copies::one, 100000);
  EXPECT_EQ(copied_once(choice, 10, 100, 200), 10);
}

TEST(CopyChoice, KeepsSizesApart) {
  CopyChoice choice;
  copied_once(choice, 50, 100, 200);
  for (int call = 0; call < 6; ++call) choice.add(64 << 10, call % 2 == 0 ? Copies::one : Copies::two, 100 - call % 2);
  int once = 0;
  for (int call = 0; call < 31; ++call) once += choice.choose(64 << 10) == Copies::one ? 1 : 0;
  EXPECT_LE(once, 1);
  EXPECT_GE(copied_once(choice, 31, 100, 200), 30);
}

TEST(CopyChoice, NotesSayWhatTheyAreOf) {
  const std::uint64_t note = CopyChoice::note(70000, 12345);
  EXPECT_TRUE(CopyChoice::is_of(note, 70000));
  EXPECT_FALSE(CopyChoice::is_of(note, 70001));
  EXPECT_EQ(CopyChoice::ticks_of(note), 12345u);
}

}  // namespace
}  // namespace millrace::collective::test
