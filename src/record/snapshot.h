// What this process has recorded so far: the sum over its threads, as numbers without names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/record.h"

namespace millrace::record {

// Of one size class.
struct SizeSnapshot {
  std::size_t size_class = 0;
  std::uint64_t calls = 0;
  std::uint64_t taken = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;
};

struct EntrySnapshot {
  std::uint16_t entry = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;
  std::array<std::uint64_t, reason_count> outcome{};  // [none] is the number taken
  std::vector<SizeSnapshot> sizes;                    // those that there were, by class
};

struct PairSnapshot {
  std::uint16_t entry = 0;
  std::uint16_t algorithm = 0;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;
};

struct Snapshot {
  std::vector<EntrySnapshot> entries;  // those that were called, by entry
  std::vector<PairSnapshot> pairs;     // by entry, then algorithm
  std::uint64_t lost_calls = 0;        // not counted: no memory for a thread's block
  std::uint64_t threads = 0;           // that made at least one call, reset() or not
};

// Other threads may go on calling: each counter is read whole, but two counters may be one call apart.
Snapshot snapshot();

}  // namespace millrace::record
