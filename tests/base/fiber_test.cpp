#include "base/fiber.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace millrace {
namespace {

struct Steps {
  int left = 0;
  std::vector<int> seen;
  double inexact = 0;
  Fiber* itself = nullptr;
};

void take_steps(void* context) {
  // What a call must keep over another one: more than fits into registers.
  auto& steps = *static_cast<Steps*>(context);
  double a = 1, b = 2, c = 3, d = 5, e = 7, f = 11;
  std::vector<int> own(100);
  std::iota(own.begin(), own.end(), 0);
  steps.itself = Fiber::current();
  for (int i = 0; i < steps.left; ++i) {
    steps.seen.push_back(own[static_cast<std::size_t>(i)]);
    Fiber::suspend();
    a += b, b += c, c += d, d += e, e += f, f += a;
  }
  steps.inexact = a + b + c + d + e + f;
}

Steps run(int count) {
  Steps steps;
  steps.left = count;
  Fiber* const fiber = Fiber::take();
  EXPECT_TRUE(fiber->has_returned());
  fiber->start(take_steps, &steps);
  int resumed = 0;
  for (; !fiber->has_returned(); ++resumed) {
    EXPECT_EQ(Fiber::current(), nullptr);
    fiber->resume();
  }
  EXPECT_EQ(resumed, count);
  EXPECT_EQ(steps.itself, fiber);
  fiber->give_back();
  return steps;
}

TEST(Fiber, GoesOnWhereItWasLeft) {
  const Steps none = run(0);
  EXPECT_TRUE(none.seen.empty());
  EXPECT_EQ(none.inexact, 29);
  const Steps some = run(50);
  ASSERT_EQ(some.seen.size(), 50u);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(some.seen[i], static_cast<int>(i));
  double a = 1, b = 2, c = 3, d = 5, e = 7, f = 11;
  for (int i = 0; i < 50; ++i) a += b, b += c, c += d, d += e, e += f, f += a;
  EXPECT_EQ(some.inexact, a + b + c + d + e + f);
}

TEST(Fiber, ManyAtOnceInAnyOrder) {
  constexpr std::size_t count = 200;
  std::vector<Steps> steps(count);
  std::vector<Fiber*> fibers(count);
  for (std::size_t i = 0; i < count; ++i) {
    steps[i].left = static_cast<int>(i % 7);
    fibers[i] = Fiber::take();
    fibers[i]->start(take_steps, &steps[i]);
  }
  for (int round = 0; round < 7; ++round)
    for (std::size_t i = count; i-- != 0;)
      if (!fibers[i]->has_returned()) fibers[i]->resume();
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_TRUE(fibers[i]->has_returned()) << i;
    EXPECT_EQ(steps[i].seen.size(), i % 7);
    fibers[i]->give_back();
  }
}

TEST(Fiber, OneStackServesAgain) {
  Fiber* const first = Fiber::take();
  first->give_back();
  EXPECT_EQ(Fiber::take(), first);
  first->give_back();
}

TEST(Fiber, InsideOfAnother) {
  struct Outer {
    Steps inner;
    Fiber* fiber = nullptr;
    bool is_outer_again = false;
  } outer;
  outer.inner.left = 3;
  outer.fiber = Fiber::take();
  Fiber* const fiber = Fiber::take();
  fiber->start(
      [](void* context) {
        auto& self = *static_cast<Outer*>(context);
        Fiber* const here = Fiber::current();
        self.fiber->start(take_steps, &self.inner);
        Fiber::suspend();
        while (!self.fiber->has_returned()) self.fiber->resume();
        self.is_outer_again = Fiber::current() == here;
      },
      &outer);
  EXPECT_FALSE(fiber->has_returned());
  fiber->resume();
  EXPECT_TRUE(fiber->has_returned());
  EXPECT_TRUE(outer.is_outer_again);
  EXPECT_EQ(outer.inner.seen.size(), 3u);
  outer.fiber->give_back();
  fiber->give_back();
}

TEST(Fiber, ResumedByAnotherThread) {
  Steps steps;
  steps.left = 40;
  Fiber* const fiber = Fiber::take();
  fiber->start(take_steps, &steps);
  for (int i = 0; i < 40; ++i)
    std::thread([&] {
      fiber->resume();
      EXPECT_EQ(Fiber::current(), nullptr);
    }).join();
  EXPECT_TRUE(fiber->has_returned());
  EXPECT_EQ(steps.seen.size(), 40u);
  fiber->give_back();
}

// The modes of floating-point arithmetic belong to who set them.
TEST(Fiber, KeepsItsRounding) {
  struct Rounding {
    int before = -1, after = -1;
  } rounding;
  Fiber* const fiber = Fiber::take();
  std::fesetround(FE_UPWARD);
  fiber->start(
      [](void* context) {
        auto& self = *static_cast<Rounding*>(context);
        self.before = std::fegetround();
        Fiber::suspend();
        self.after = std::fegetround();
      },
      &rounding);
  std::fesetround(FE_TONEAREST);
  fiber->resume();
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_EQ(rounding.before, FE_UPWARD);
  EXPECT_EQ(rounding.after, FE_UPWARD);
  fiber->give_back();
}

int depth_of(int levels) {
  char buffer[512];
  for (std::size_t i = 0; i < sizeof buffer; ++i) reinterpret_cast<volatile char*>(buffer)[i] = static_cast<char>(i);
  return levels == 0 ? buffer[7] : depth_of(levels - 1) + (buffer[3] == 3 ? 1 : 0);
}

// Four fifths of it are there; what goes beyond ends the program instead of writing to others' memory.
TEST(FiberDeathTest, HasAllOfItsStackAndNoMore) {
  int levels = static_cast<int>(Fiber::stack_bytes * 4 / 5 / 640);
#if defined(__SANITIZE_ADDRESS__)
  levels /= 4;
#endif
  Fiber* const fiber = Fiber::take();
  const int wanted = levels;
  fiber->start([](void* context) { *static_cast<int*>(context) = depth_of(*static_cast<int*>(context)); }, &levels);
  EXPECT_EQ(levels, wanted + 7);
  EXPECT_DEATH(
      {
        levels = 4000;
        fiber->start([](void* context) { *static_cast<int*>(context) = depth_of(*static_cast<int*>(context)); },
                     &levels);
      },
      "");
  fiber->give_back();
}

TEST(Fiber, CanSwitchHere) { EXPECT_TRUE(Fiber::can_switch()); }

}  // namespace
}  // namespace millrace
