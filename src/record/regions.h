// Parts of a program that it marks itself (MPI_Pcontrol): what its calls of MPI did meanwhile.
//
// Nothing is done for a region at a call: each thread adds up its calls, and where a region begins or ends the sums of
// all threads are read. So a region belongs to the process: what other threads do meanwhile is in it as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::record {

// Of one process, and of a report. What comes after them is in one that is called others.
inline constexpr std::size_t most_regions = 64;
inline constexpr std::string_view other_regions = "others";
inline constexpr std::size_t longest_region_name = 63;  // the rest of a name is cut off
inline constexpr std::size_t deepest_region = 32;

// A region that is open inside another one is in both; one that is open inside itself counts once.
struct RegionRecord {
  std::string name;
  std::uint64_t entered = 0;
  std::uint64_t calls = 0;    // that ended while it was open
  std::uint64_t bytes = 0;    // which they posted
  std::uint64_t time_ns = 0;  // inside them, summed over threads
  std::uint64_t wall_ns = 0;

  bool operator==(const RegionRecord&) const = default;
};

struct Regions {
  std::vector<RegionRecord> all;  // in the order of their first begin; others last
  std::uint64_t unbalanced = 0;   // begun too deep, ended without a begin, left open by one around it, without a name

  bool operator==(const Regions&) const = default;
};

// All are thread-safe, take no memory and never throw.
void begin_region(std::string_view name) noexcept;   // inside those that are open
void end_region(std::string_view name) noexcept;     // and those that were begun inside it
void change_region(std::string_view name) noexcept;  // ends all and begins this
void note_nameless_region() noexcept;

// With those that are open, until now. Nothing if another thread is stopped inside one of the above (a signal).
Regions regions_until_now(double ns_per_tick);

// In reset().
void reset_regions() noexcept;

}  // namespace millrace::record
