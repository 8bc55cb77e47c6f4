// What the nonblocking collectives of one communicator go through, or one persistent collective does: memory of their
// own, so that calls that wait may come in between, on which the ranks agree by the numbers of the nonblocking calls
// alone (node_agreement.h). It lives on while some of them have not ended, though the communicator be freed.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/program_threads.h"
#include "collective/background.h"
#include "shim/call/exchange_neighbors.h"
#include "shim/node/communicators.h"

namespace millrace::shim {

class BegunCalls;  // begun_before.h

class BackgroundChannel final : public KeptWithCommunicator {
 public:
  // Of a communicator that can be shared at all, else null. By who makes its calls. Never throws.
  static BackgroundChannel* of(Communicator& communicator) noexcept;

  // The one that it has, else null. By who makes its calls.
  static BackgroundChannel* found_of(const Communicator& communicator) noexcept;

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
  // For as long as a call lasts. Of the nonblocking calls of a communicator.
  void keep() { add_in_program(users_, 1); }
  void let_go() noexcept;
  // As one that is being begun sees it: no other has not ended.
  bool has_one_call() const { return users_.load(std::memory_order_relaxed) <= 2; }
  // What its calls were; null before there was any. Throws std::bad_alloc when it is made.
  BegunCalls* begun_calls() const { return begun_calls_.get(); }
  BegunCalls& make_begun_calls();
  // Memory for the lists of messages of a call: what an earlier one has left, or null. Thread-safe.
  std::unique_ptr<KeptWithCommunicator> take_blocks() noexcept;
  void keep_blocks(std::unique_ptr<KeptWithCommunicator> blocks) noexcept;

 private:
  std::optional<Neighbors> neighbors_;
  ProgramMutex blocks_mutex_;
  std::vector<std::unique_ptr<KeptWithCommunicator>> spare_blocks_;
  std::unique_ptr<collective::BackgroundQueue> queue_;
  std::unique_ptr<BegunCalls> begun_calls_;
  std::atomic<int> users_{1};  // the communicator, and its calls that have not ended
};

// A channel for as long as a call lasts.
class ChannelInUse {
 public:
  static ChannelInUse kept(BackgroundChannel& channel) {
    channel.keep();
    return {channel, true};
  }
  // Of one that something else keeps for longer than this.
  static ChannelInUse borrowed(BackgroundChannel& channel) { return {channel, false}; }
  ChannelInUse(ChannelInUse&& other) noexcept
      : channel_(other.channel_), is_kept_(std::exchange(other.is_kept_, false)) {}
  ChannelInUse& operator=(ChannelInUse&&) = delete;
  ~ChannelInUse() {
    if (is_kept_) channel_.let_go();
  }
  BackgroundChannel* operator->() const { return &channel_; }
  BackgroundChannel& operator*() const { return channel_; }

 private:
  ChannelInUse(BackgroundChannel& channel, bool is_kept) : channel_(channel), is_kept_(is_kept) {}
  BackgroundChannel& channel_;
  bool is_kept_;
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
