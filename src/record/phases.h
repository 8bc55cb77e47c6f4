// What calls did over time: the run in equal slices.
//
// Nothing is done for a slice at a call but to compare its end with the end of the slice: each thread adds up its calls
// (ThreadSums), and keeps what these sums were where a slice ended. When slices have run out, two become one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::record {

struct ThreadBlock;

inline constexpr std::size_t phase_slices = 64;

struct PhaseSlice {
  std::uint64_t calls = 0;    // that ended in it
  std::uint64_t bytes = 0;    // which they posted
  std::uint64_t time_ns = 0;  // inside calls, also inside those that ended later; summed over threads

  bool operator==(const PhaseSlice&) const = default;
};

struct Phases {
  std::uint64_t wall_ns = 0;
  std::vector<PhaseSlice> slices;  // of equal parts of it: phase_slices, or none

  bool operator==(const Phases&) const = default;
};

// Time counts from here on (clock_ticks()); calls that began before count with what is left of them. Once.
void start_phases(std::uint64_t ticks) noexcept;

// In add_call(), before the sums are added to, of a call that ended after block.next_slice_ticks.
void cross_slices(ThreadBlock& block, std::uint64_t end_ticks, std::uint64_t call_ticks) noexcept;

// From the start until now. Where a thread's own slices are longer than these, what it did is spread evenly.
Phases phases_until_now(std::uint64_t now_ticks, double ns_per_tick);

// In reset().
void reset_phases() noexcept;

}  // namespace millrace::record
