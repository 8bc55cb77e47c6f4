// What the nonblocking collectives of one communicator go through, or one persistent collective does: memory of their
// own, so that calls that wait may come in between, on which the ranks agree by the numbers of the nonblocking calls
// alone (node_agreement.h). It lives on while some of them have not ended, though the communicator be freed.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "collective/background.h"
#include "shim/call/exchange_neighbors.h"
#include "shim/node/communicators.h"

namespace millrace::shim {

class BackgroundChannel final : public KeptWithCommunicator {
 public:
  // Of a communicator that can be shared at all, else null. By who makes its calls. Never throws.
  static BackgroundChannel* of(Communicator& communicator) noexcept;

  // One for a persistent collective, the so many-th on the communicator; null where nothing can be shared. Throws
  // std::bad_alloc.
  static std::shared_ptr<BackgroundChannel> of_persistent(const Communicator& communicator, std::uint64_t number);

  // `number`: of a persistent collective, else 0.
  BackgroundChannel(const Communicator& communicator, std::uint64_t number);
  ~BackgroundChannel() override;

  // The communicator as nonblocking calls see it: stage, group and numbers are theirs.
  Communicator communicator;
  // Of the communicator, if it has a topology, else null. Whether they repeat is part of the channel's name: so it is
  // the same on all ranks that share it.
  const Neighbors* neighbors() const { return neighbors_ ? &*neighbors_ : nullptr; }
  // Once that is active; never null. Throws std::bad_alloc when it is made, at the first call.
  collective::BackgroundQueue* queue();
  // Its neighbours' calls are the host's, whatever they move: known since the first.
  bool leaves_neighbors = false;
  // For as long as a call lasts.
  std::shared_ptr<BackgroundChannel> keep();
  // Memory for the lists of messages of a call: what an earlier one has left, or null. Thread-safe.
  std::unique_ptr<KeptWithCommunicator> take_blocks() noexcept;
  void keep_blocks(std::unique_ptr<KeptWithCommunicator> blocks) noexcept;

 private:
  std::optional<Neighbors> neighbors_;
  std::mutex blocks_mutex_;
  std::vector<std::unique_ptr<KeptWithCommunicator>> spare_blocks_;
  std::unique_ptr<collective::BackgroundQueue> queue_;
  std::weak_ptr<BackgroundChannel> itself_;
};

// Nonblocking collectives that have been begun here and whose requests the program has not completed.
extern std::atomic<int> open_background_calls;
inline bool any_in_background() {
  return __builtin_expect(open_background_calls.load(std::memory_order_relaxed) != 0, 0);
}

// Moves all of them on as far as they go without waiting. For threads of the program, inside a call of MPI.
void advance_background() noexcept;

// Before MPI_Finalize: no thread of ours is left.
void forget_background_channels() noexcept;

}  // namespace millrace::shim
