#include "shared_memory/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace millrace::shared_memory {
namespace {

constexpr std::array<std::uint32_t, 5> some_seats{0, 1, 63, 64, 1023};

TEST(Attention, RingsThoseThatSleep) {
  const auto attention = std::make_unique<Attention>();
  for (const std::uint32_t seat : some_seats) fall_asleep(*attention, seat);
  EXPECT_FALSE(wake_up(*attention, 64)) << "nobody has rung";
  ring_sleepers(*attention);
  EXPECT_EQ(attention->sleepers.load(), 0u);
  for (std::uint32_t seat = 0; seat < Attention::most_seats; ++seat) {
    const bool rung = seat != 64 && std::find(some_seats.begin(), some_seats.end(), seat) != some_seats.end();
    EXPECT_EQ(attention->seats[seat].bell.load(), rung ? 1u : 0u) << seat;
    if (rung) {
      EXPECT_TRUE(wake_up(*attention, seat)) << seat;
    }
  }
  ring_sleepers(*attention);
  EXPECT_EQ(attention->seats[0].bell.load(), 1u) << "who has been rung is not rung again";
}

TEST(Attention, RingsTheOneThatIsNeeded) {
  const auto attention = std::make_unique<Attention>();
  for (const std::uint32_t needed : some_seats) {
    for (const std::uint32_t seat : some_seats)
      if (seat != 63) fall_asleep(*attention, seat);
    ring_sleeper(*attention, needed);
    ring_sleeper(*attention, needed);
    EXPECT_EQ(attention->seats[needed].bell.load(), needed != 63 ? 1u : 0u) << "once, and only if it sleeps";
    for (const std::uint32_t seat : some_seats) {
      EXPECT_EQ(wake_up(*attention, seat), seat == needed || seat == 63) << seat;
    }
    EXPECT_EQ(attention->sleepers.load(), 0u);
    for (auto& seat : attention->seats) seat.bell = 0;
  }
}

TEST(Attention, CallersHaveNothingToDoWhenAllAreAwake) {
  const auto attention = std::make_unique<Attention>();
  for (const std::uint32_t seat : some_seats) fall_asleep(*attention, seat);
  for (const std::uint32_t seat : some_seats) {
    EXPECT_NE(attention->sleepers.load(), 0u);
    EXPECT_FALSE(wake_up(*attention, seat));
  }
  EXPECT_EQ(attention->sleepers.load(), 0u);
}

TEST(Attention, WhatIsInside) {
  const auto attention = std::make_unique<Attention>();
  const Seating seating{attention.get(), 2, 5};
  EXPECT_FALSE(somebody_inside(seating));
  attention->seats[2].inside = Attention::anybody;
  attention->seats[5].inside = Attention::anybody;
  attention->seats[3].inside = Attention::needed_seat(4);
  EXPECT_FALSE(somebody_inside(seating)) << "its own call, an empty seat and one that needs another do not count";
  attention->seats[3].inside = Attention::needed_seat(2);
  EXPECT_TRUE(somebody_inside(seating));
  attention->seats[3].inside = Attention::nobody;
  attention->seats[4].inside = Attention::anybody;
  EXPECT_TRUE(somebody_inside(seating));
}

TEST(Attention, WhatOthersHaveGivenTheirHosts) {
  const auto attention = std::make_unique<Attention>();
  const Seating seating{attention.get(), 1, 3};
  attention->seats[0].given = 5;
  attention->seats[1].given = 100;
  attention->seats[2].given = ~0u;
  attention->seats[3].given = 1000;
  EXPECT_EQ(given_by_others(seating), 4u) << "neither its own nor that of an empty seat";
}

// Sleepers that wake only when they are rung: one forgotten would hang. The model has all orders, this the real words.
TEST(Attention, ForgetsNobody) {
  const auto attention = std::make_unique<Attention>();
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (const std::uint32_t seat : some_seats)
    threads.emplace_back([&, seat] {
      for (int round = 0; round < 3000; ++round) {
        const std::uint32_t heard = attention->seats[seat].bell.load();
        fall_asleep(*attention, seat);
        if (round % 3 != 0)
          while (attention->seats[seat].bell.load() == heard) std::this_thread::yield();
        wake_up(*attention, seat);
      }
      done.fetch_add(1);
    });
  std::size_t rings = 0;
  while (done.load() < static_cast<int>(some_seats.size())) {
    if (++rings % 2 != 0 && attention->sleepers.load(std::memory_order_relaxed) != 0) ring_sleepers(*attention);
    if (rings % 2 == 0) ring_sleeper(*attention, some_seats[rings / 2 % some_seats.size()]);
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(attention->asleep[0].load() | attention->asleep[1].load() | attention->asleep[15].load(), 0u);
}

}  // namespace
}  // namespace millrace::shared_memory
