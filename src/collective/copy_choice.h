// Whether a large message of Bcast is copied once, out of the root's memory, or twice, through chunks: as it was faster
// of late, in this job. A line that one core wrote takes 60 ns to another or 250, for minutes, on one and the same
// machine: with the one two copies take half the time of one by the kernel, with the other twice as much.
//
// The root alone decides, and says so with each message. It knows what both have spent in earlier ones. Arithmetic on
// numbers, no clock; used by one rank.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace millrace::collective {

enum class Copies : std::uint8_t { one, two };

class CopyChoice {
 public:
  Copies choose(std::size_t bytes) {
    Sizes& sizes = sizes_[place(bytes)];
    const std::uint32_t call = sizes.calls++;
    const Costs &one = sizes.costs[0], &two = sizes.costs[1];
    // Each a few times at first; then the better one, and the other now and again.
    if (one.count < enough || two.count < enough) return call % 2 == 0 ? Copies::one : Copies::two;
    const bool is_one = one.least() <= two.least();
    return is_one != (call % calls_between_tries == 0) ? Copies::one : Copies::two;
  }

  // What the ranks of such a message spent in it, all together.
  void add(std::size_t bytes, Copies copies, std::uint64_t cost_ticks) {
    Costs& costs = sizes_[place(bytes)].costs[static_cast<std::size_t>(copies)];
    costs.last[costs.count++ % kept] = cost_ticks;
  }

  // The last messages, of which the other rank has yet to say what they have cost there: a root runs ahead.
  struct Sent {
    std::uint64_t call = 0;
    std::size_t bytes = 0;  // 0: none
    std::uint64_t own_ticks = 0;
    Copies copies{};
  };
  std::array<Sent, 8> sent{};
  void remember(const Sent& message) { sent[next_sent_++ % sent.size()] = message; }

  // What a rank says of a call: its time, and of which call it is.
  static constexpr std::uint64_t note(std::uint64_t call, std::uint64_t ticks) { return ticks << 16 | (call & 0xffff); }
  static constexpr bool is_of(std::uint64_t note, std::uint64_t call) { return (note & 0xffff) == (call & 0xffff); }
  static constexpr std::uint64_t ticks_of(std::uint64_t note) { return note >> 16; }

 private:
  static constexpr std::uint32_t kept = 4, enough = 3, calls_between_tries = 32;
  // The least of a few: what else happens on a machine only adds.
  struct Costs {
    std::array<std::uint64_t, kept> last{};
    std::uint32_t count = 0;
    std::uint64_t least() const { return *std::min_element(last.begin(), last.begin() + std::min(count, kept)); }
  };
  struct Sizes {
    std::array<Costs, 2> costs;
    std::uint32_t calls = 0;
  };
  // Sizes within a power of two are alike; beyond 4 GiB all.
  static std::size_t place(std::size_t bytes) { return std::min<std::size_t>(std::bit_width(bytes), 32); }

  std::array<Sizes, 33> sizes_{};
  std::uint32_t next_sent_ = 0;
};

}  // namespace millrace::collective
