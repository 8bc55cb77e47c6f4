// How many calls a communicator makes before a rank begins to agree on it, learned from those that have ended: memory
// for one that is freed after a few more calls costs some hundred microseconds and gains nothing. Each rank learns by
// itself; nothing is shared before all have begun, so ranks need not have learned the same.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace millrace::node {

class ShortLives {
 public:
  static constexpr std::uint64_t least_calls = 4, most_calls = 1024;
  // That have to go through shared memory for it to be worth its making.
  static constexpr std::uint64_t worth_calls = 64;

  std::uint64_t calls_before_agreement() const { return calls_.load(std::memory_order_relaxed); }

  // A communicator has ended on which agreement had begun, after so many calls in shared memory. Thread-safe; what two
  // threads say at the same time may count once.
  void ended(std::uint64_t shared_calls) {
    const std::uint64_t calls = calls_.load(std::memory_order_relaxed);
    const std::uint64_t next = shared_calls >= worth_calls ? least_calls : std::min(4 * calls, most_calls);
    calls_.store(next, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> calls_{least_calls};
};

}  // namespace millrace::node
