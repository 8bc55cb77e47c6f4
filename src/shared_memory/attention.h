// Who of a node's ranks sleeps in a wait of ours, so that a rank that calls the host can wake them: what it does there
// may need them to drive their own host. Lies in memory that all of these ranks share; zeroed memory is a valid one.
//
//   a rank that sleeps                            a rank that calls the host
//   asleep |= own bit; sleepers |= its word       sleepers == 0: nothing to do (one load of a line that stays)
//   drives its host once more                     else takes all bits of `asleep` and rings the bells of those ranks
//   sleeps on its bell, for a slice of time       inside: while it is in a call that waits for others, whom it needs
//   own bit still there? then nobody has rung
//
// The caller looks before its host has sent anything, so a rank that goes to sleep just then is not woken: slices are
// short at first, and the last look at the host comes after the bit. Nothing here decides more than when one wakes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace millrace::shared_memory {

struct Attention {
  static constexpr std::uint32_t most_seats = 1024;

  struct alignas(64) Seat {
    std::atomic<std::uint32_t> bell;  // futex word: raised and woken by who has something for this rank
    // Written by the rank itself, in a call of the host that waits for others: whom it needs.
    std::atomic<std::uint32_t> inside;  // nobody, anybody, or needed_seat()
    // Written by the rank itself: how many of its calls that are over may have given its host something for others. In
    // a line of its own, which stays with those that read it while nothing is given.
    alignas(64) std::atomic<std::uint32_t> given;
  };
  static constexpr std::uint32_t nobody = 0, anybody = 1;
  static constexpr std::uint32_t needed_seat(std::uint32_t seat) { return seat + 2; }

  alignas(128) std::atomic<std::uint32_t> sleepers;  // a bit for each word of `asleep` that may hold one
  // Set once, by any rank; else sleepers count on nobody's ring. Relaxed: it is about how long to sleep.
  alignas(128) std::atomic<std::uint32_t> everybody_rings;  // all ranks of the job are on this node and here
  std::atomic<std::uint32_t> strangers;  // the job is, or may be, connected with another: not everybody rings after all
  alignas(128) std::atomic<std::uint64_t> asleep[most_seats / 64];  // a bit for each seat
  Seat seats[most_seats];
};

// Where a rank sits. Without an Attention nobody can ring it, and nobody is seen inside a call.
struct Seating {
  Attention* attention = nullptr;
  std::uint32_t seat = 0;   // of this rank, below `seats`
  std::uint32_t seats = 0;  // that may be taken: all below, at most Attention::most_seats
};

// Says that the rank of `seat` sleeps. To be followed by a look at what it waits for.
void fall_asleep(Attention& attention, std::uint32_t seat);
// Takes that back. Whether a caller has rung meanwhile.
bool wake_up(Attention& attention, std::uint32_t seat);
// Rings all that sleep.
void ring_sleepers(Attention& attention);
// Rings the rank of `seat` if it sleeps.
void ring_sleeper(Attention& attention, std::uint32_t seat);
// Whether no rank that may need this one calls the host without ringing.
bool everybody_rings(const Seating& seating);
// The sum of `given` of all ranks but that of `seat`; it may wrap.
std::uint32_t given_by_others(const Seating& seating);
// Whether some rank but that of `seat` is in a call of the host that waits for others and may need this one.
bool somebody_inside(const Seating& seating);

}  // namespace millrace::shared_memory
