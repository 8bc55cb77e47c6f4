// The counters of one thread. A block is one anonymous mapping: the kernel hands out zeroed pages as they are touched,
// so a thread that makes one kind of call costs three pages, not the whole block, and nothing here needs malloc.
//
//   ThreadBlock
//   +-----------+------------------------------+----------------------------------+-----------------------------------+
//   | link, use | entries[max_entries],        | pairs[pair_slots], 32 bytes each | sizes[max_entries][classes],      |
//   |           | 192 bytes each               | communicators, 32 bytes each     | 32 bytes each                     |
//   +-----------+------------------------------+----------------------------------+-----------------------------------+
//                | outcome[reason_count]        | key calls bytes ticks            | calls taken bytes ticks
//
// All fields are plain words accessed through std::atomic_ref: constructing std::atomic objects would touch every page.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "record/phases.h"
#include "record/record.h"
#include "record/size_class.h"

namespace millrace::record {

// The commonest outcomes share the first cache line. Bytes and ticks are those of all sizes.
struct alignas(64) EntryCounters {
  std::uint64_t outcome[reason_count];  // [none] is the number taken, the others the number forwarded for that reason
};
static_assert(sizeof(EntryCounters) == 192, "a 25th reason needs a second look at the layout");

// What the calls of one entry came to that post about so many bytes (size_class.h).
struct alignas(32) SizeCounters {
  std::uint64_t calls;
  std::uint64_t taken;
  std::uint64_t bytes;
  std::uint64_t ticks;
};

// What one algorithm did for one entry; found by hashing the two.
struct alignas(32) PairCounters {
  std::uint64_t key;  // 0: free
  std::uint64_t calls;
  std::uint64_t bytes;
  std::uint64_t ticks;
};

inline constexpr std::size_t pair_slots_log2 = 10;
inline constexpr std::size_t pair_slots = std::size_t{1} << pair_slots_log2;
inline constexpr std::size_t pair_probes = 8;

inline constexpr std::uint64_t pair_key(std::uint16_t entry, std::uint16_t algorithm) {
  return (std::uint64_t{entry} << 16 | algorithm) + 1;
}
inline constexpr std::uint16_t pair_entry(std::uint64_t key) { return static_cast<std::uint16_t>((key - 1) >> 16); }
inline constexpr std::uint16_t pair_algorithm(std::uint64_t key) { return static_cast<std::uint16_t>(key - 1); }

// What calls did on one communicator, by its number (communicators.cpp).
struct alignas(32) CommunicatorCounters {
  std::uint64_t calls;
  std::uint64_t taken;
  std::uint64_t bytes;
  std::uint64_t ticks;
};
inline constexpr std::size_t communicator_places = 129;

struct PeerTable;  // peers.cpp

// Of all entries, for the regions (regions.cpp) and the slices of time (phases.cpp).
struct ThreadSums {
  std::uint64_t calls;
  std::uint64_t bytes;
  std::uint64_t ticks;
};

// What they were where a slice ended. All written by the owning thread, under `version`.
struct ThreadPhases {
  std::uint64_t version;
  std::uint64_t slice_ticks;  // 0: before the thread's first call in time that counts
  std::uint64_t used;         // slices that are over
  ThreadSums base;            // at the start
  ThreadSums at_end[phase_slices];
};

struct ThreadBlock {
  ThreadBlock* next;     // written before the block is published at the head of the list, never after
  std::uint32_t in_use;  // 1 while a living thread owns the block
  PeerTable* peers;      // of messages by receiver, once the thread has sent one
  ThreadSums sums;
  std::uint64_t next_slice_ticks;  // a call that ends from here on is another slice's
  std::uint64_t last_end_ticks;    // of a call
  ThreadPhases phases;
  EntryCounters entries[max_entries];
  PairCounters pairs[pair_slots];
  CommunicatorCounters communicators[communicator_places];
  SizeCounters sizes[max_entries][size_class_count];
};

// Relaxed: a counter stands for itself only. Partner of the loads in snapshot.cpp; the sole writer is the owning thread
// (ownership changes hands through in_use with acquire/release, so the next owner sees every count of the last).
inline void add(std::uint64_t& counter, std::uint64_t amount) {
  const std::atomic_ref<std::uint64_t> word(counter);
  word.store(word.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

// Partner: the stores in add() above, and that of a new pair's key in record.cpp.
inline std::uint64_t read(std::uint64_t& counter) {
  return std::atomic_ref<std::uint64_t>(counter).load(std::memory_order_relaxed);
}

// Of this thread, once it has made a call. Initial-exec: the preload is loaded at start-up, so the pointer is one load
// away instead of a call to __tls_get_addr.
extern constinit __attribute__((tls_model("initial-exec"))) thread_local ThreadBlock* own_block;
ThreadBlock* take_block();

// The block of this thread, taken at its first call; nothing if there is no memory for one.
inline ThreadBlock* this_thread_block() {
  ThreadBlock* const block = own_block;
  return __builtin_expect(block != nullptr, 1) ? block : take_block();
}

// In reset().
void reset_peers(ThreadBlock& block);

// For the reader in snapshot.cpp.
ThreadBlock* first_block();
std::uint64_t lost_calls();
std::uint64_t threads_seen();

}  // namespace millrace::record
