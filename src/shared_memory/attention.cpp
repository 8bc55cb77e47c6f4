#include "shared_memory/attention.h"

#include <bit>

#include "shared_memory/futex.h"

namespace millrace::shared_memory {

void fall_asleep(Attention& attention, std::uint32_t seat) {
  const std::uint32_t word = seat / 64;
  // Both sequentially consistent, the summary last; partners: the exchanges in ring_sleepers().
  attention.asleep[word].fetch_or(std::uint64_t{1} << (seat % 64));
  attention.sleepers.fetch_or(std::uint32_t{1} << word);
}

bool wake_up(Attention& attention, std::uint32_t seat) {
  const std::uint32_t word = seat / 64;
  const std::uint64_t bit = std::uint64_t{1} << (seat % 64);
  const std::uint64_t before = attention.asleep[word].fetch_and(~bit);
  if ((before & ~bit) == 0) {
    attention.sleepers.fetch_and(~(std::uint32_t{1} << word));
    // Who fell asleep between the two lines has set the summary before it was cleared.
    if (attention.asleep[word].load() != 0) attention.sleepers.fetch_or(std::uint32_t{1} << word);
  }
  return (before & bit) == 0;
}

namespace {

void ring(Attention::Seat& seat) {
  seat.bell.fetch_add(1, std::memory_order_release);  // partner: load in Group::sleep_until_rung()
  futex_wake(seat.bell);
}

}  // namespace

void ring_sleepers(Attention& attention) {
  std::uint32_t words = attention.sleepers.exchange(0) & ((std::uint32_t{1} << (Attention::most_seats / 64)) - 1);
  for (; words != 0; words &= words - 1) {
    const auto word = static_cast<std::uint32_t>(std::countr_zero(words));
    for (std::uint64_t bits = attention.asleep[word].exchange(0); bits != 0; bits &= bits - 1)
      ring(attention.seats[word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits))]);
  }
}

void ring_sleeper(Attention& attention, std::uint32_t seat) {
  std::atomic<std::uint64_t>& asleep = attention.asleep[seat / 64];
  const std::uint64_t bit = std::uint64_t{1} << (seat % 64);
  // Looked at first: a line that stays where it is while others sleep.
  if ((asleep.load(std::memory_order_relaxed) & bit) == 0) return;
  // The summary is left to the one that wakes; partner: fall_asleep().
  if ((asleep.fetch_and(~bit) & bit) != 0) ring(attention.seats[seat]);
}

bool everybody_rings(const Seating& seating) {
  return seating.attention && seating.attention->everybody_rings.load(std::memory_order_relaxed) != 0 &&
         seating.attention->strangers.load(std::memory_order_relaxed) == 0;
}

std::uint32_t given_by_others(const Seating& seating) {
  std::uint32_t given = 0;
  for (std::uint32_t seat = 0; seat < seating.seats; ++seat)
    // What is counted is there for who looks from now on; partner: count_given().
    if (seat != seating.seat) given += seating.attention->seats[seat].given.load(std::memory_order_acquire);
  return given;
}

bool somebody_inside(const Seating& seating) {
  for (std::uint32_t seat = 0; seat < seating.seats; ++seat) {
    const std::uint32_t needed = seating.attention->seats[seat].inside.load(std::memory_order_relaxed);
    if (seat != seating.seat && (needed == Attention::anybody || needed == Attention::needed_seat(seating.seat)))
      return true;
  }
  return false;
}

}  // namespace millrace::shared_memory
