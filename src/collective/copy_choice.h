// How large messages are copied: once, out of their sender's memory, or twice, through shared memory, which the sender
// writes through the caches or past them. As it was fastest of late, in this job: a line that one core wrote takes 60
// ns to another or 250, for minutes, on one and the same machine, and what is best with the one takes two to four times
// as long as the best with the other.
//
// A sender alone decides, and says so with each message. It knows what the ways have cost all ranks in earlier calls:
// now and again all go one way. Arithmetic on numbers, no clock; used by one rank.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/hash.h"
#include "collective/selection.h"

namespace millrace::collective {

enum class Copies : std::uint8_t { one, two, past_caches };
inline constexpr std::size_t copies_count = 3;

// Some of them.
struct Ways {
  std::uint8_t bits = 0;
  constexpr Ways with(Copies copies) const {
    return {static_cast<std::uint8_t>(bits | 1u << static_cast<unsigned>(copies))};
  }
  constexpr bool have(Copies copies) const { return (bits >> static_cast<unsigned>(copies) & 1) != 0; }
  constexpr int count() const { return std::popcount(bits); }
  // The index-th of them, from 0 on.
  constexpr Copies at(std::uint64_t index) const {
    unsigned left = bits;
    for (; index != 0; --index) left &= left - 1;
    return static_cast<Copies>(std::countr_zero(left));
  }
};

// What a rank says to others of a call: its time, and of which call it is.
struct CostNote {
  static constexpr std::uint64_t make(std::uint64_t call, std::uint64_t ticks) { return ticks << 16 | (call & 0xffff); }
  static constexpr bool is_of(std::uint64_t note, std::uint64_t call) { return (note & 0xffff) == (call & 0xffff); }
  static constexpr std::uint64_t ticks_of(std::uint64_t note) { return note >> 16; }
  // Calls after which another may stand in its place.
  static constexpr std::uint64_t places = 128;
};

class CopyChoice {
 public:
  struct Trial {
    bool is_one = false;
    Copies copies{};
  };
  // Whether the next call of a kind is a trial, in which all ranks go the same way of `ways`. `bytes`: what all ranks
  // know to be the size of messages; 0: they may differ. To be asked once for each call, on all ranks alike.
  // `own_bytes`: where they may differ, but seldom do, of this rank's largest: its first ones of that size are trials,
  // too, for the calls of all sizes together come to each of many sizes late. (Where they do differ, ranks may go
  // different ways then, and learn less from it.)
  Trial next(Kind kind, std::size_t bytes, Ways ways, std::size_t own_bytes = 0) {
    const auto count = static_cast<std::uint64_t>(ways.count());
    std::uint32_t* const calls = calls_[index(kind)].data();
    const std::uint64_t call = calls[place(bytes)]++;
    if (call < first_trials * count) return {true, ways.at(first_way(call, count))};
    // Not every so many calls: a program may have as many of another size in between, always. Of 64 calls one for
    // each way, later of 128.
    const std::uint64_t draw = spread(call) >> (call < many_calls ? 58 : 57);
    if (draw < count) return {true, ways.at(draw)};
    if (bytes != 0 || place(own_bytes) == place(0) || calls[place(own_bytes)] >= first_trials * count) return {};
    return {true, ways.at(first_way(calls[place(own_bytes)]++, count))};
  }

  // What messages of a kind, of which the calling rank's largest has so many bytes, cost all ranks in a trial.
  void add(Kind kind, std::size_t bytes, Copies copies, std::uint64_t cost_ticks) {
    Costs& costs = costs_[index(kind)][place(bytes)][static_cast<std::size_t>(copies)];
    costs.last[costs.count++ % kept] =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(cost_ticks / ticks_per_unit, ~std::uint32_t{0}));
  }
  // `untried` until all of them were tried often enough.
  Copies cheapest(Kind kind, std::size_t bytes, Ways ways, Copies untried) const {
    const auto& costs = costs_[index(kind)][place(bytes)];
    Copies best = ways.at(0);
    for (std::size_t way = 0; way < copies_count; ++way) {
      if (!ways.have(static_cast<Copies>(way))) continue;
      if (costs[way].count < enough) return untried;
      if (costs[way].least() < costs[static_cast<std::size_t>(best)].least()) best = static_cast<Copies>(way);
    }
    return best;
  }

  // Trials of which the others have yet to say what they have cost there.
  struct Pending {
    std::uint64_t call = 0;
    std::size_t bytes = 0;  // 0: none
    std::uint64_t own_ticks = 0;
    Kind kind{};
    Copies copies{};
  };
  std::array<Pending, 8> pending{};
  bool any_pending = false;
  void remember(const Pending& trial) {
    pending[next_pending_++ % pending.size()] = trial;
    any_pending = true;
  }

 private:
  // Sizes within a power of two are alike; below 8 KiB all, and from 4 GiB on.
  static constexpr std::size_t places = 20;
  static std::size_t place(std::size_t bytes) { return std::clamp<std::size_t>(std::bit_width(bytes), 13, 32) - 13; }
  // Each way in turn, but not each time in the same order: a program that makes such calls by twos, the second of which
  // finds its data in a cache, shall not have the same way tried there each time.
  static constexpr std::uint64_t first_way(std::uint64_t trial, std::uint64_t count) {
    return (trial + static_cast<std::uint64_t>(std::popcount(trial / count))) % count;
  }
  static constexpr std::size_t kinds = static_cast<std::size_t>(last_kind) + 1;
  static std::size_t index(Kind kind) { return static_cast<std::size_t>(kind); }

  static constexpr std::uint32_t kept = 4, enough = 3;
  static constexpr std::uint64_t first_trials = 4, many_calls = 256, ticks_per_unit = 16;
  // The least of a few: what else happens on a machine only adds.
  struct Costs {
    std::array<std::uint32_t, kept> last{};
    std::uint32_t count = 0;
    std::uint32_t least() const { return *std::min_element(last.begin(), last.begin() + std::min(count, kept)); }
  };
  std::array<std::array<std::array<Costs, copies_count>, places>, kinds> costs_{};
  std::array<std::array<std::uint32_t, places>, kinds> calls_{};
  std::uint32_t next_pending_ = 0;
};

}  // namespace millrace::collective
