#include "shim/shared/background_channel.h"

#include <algorithm>
#include <mutex>

#include "shim/host/host_progress.h"
#include "shim/node/node_agreement.h"
#include "shim/node/node_group.h"
#include "shim/shared/background_helper.h"
#include "shim/shared/background_progress.h"
#include "shim/shared/begun_before.h"

namespace millrace::shim {

constinit std::atomic<int> open_background_calls{0};

namespace {

std::mutex channels_mutex;
// Those with a queue; never destroyed, for communicators may be freed by other libraries' destructors.
std::vector<BackgroundChannel*>& channels() {
  static auto& all = *new std::vector<BackgroundChannel*>;
  return all;
}

// In place of a channel that this rank had no memory for: it has not counted what the others have, so it never agrees.
KeptWithCommunicator lost;

bool can_be_shared(const Communicator& communicator) {
  return !communicator.between && communicator.ranks >= 2 && communicator.has_identity;
}

// What moves on the calls of a thread that is inside another collective of ours.
void advance_own() {
  if (any_in_background()) advance_background();
}

}  // namespace

BackgroundChannel* BackgroundChannel::of(Communicator& communicator) noexcept try {
  if (communicator.background.get() == &lost) [[unlikely]]
    return nullptr;
  if (communicator.background) [[likely]]
    return static_cast<BackgroundChannel*>(communicator.background.get());
  if (!can_be_shared(communicator)) return nullptr;
  auto made = std::make_unique<BackgroundChannel>(communicator, 0);
  // Where there is no memory for its count, it is let go at once.
  communicator.background = std::shared_ptr<BackgroundChannel>(made.release(), [](auto* own) { own->let_go(); });
  return static_cast<BackgroundChannel*>(communicator.background.get());
} catch (...) {
  communicator.background = std::shared_ptr<KeptWithCommunicator>(std::shared_ptr<KeptWithCommunicator>(), &lost);
  return nullptr;
}

BackgroundChannel* BackgroundChannel::found_of(const Communicator& communicator) noexcept {
  KeptWithCommunicator* const found = communicator.background.get();
  return found == &lost ? nullptr : static_cast<BackgroundChannel*>(found);
}

BegunCalls& BackgroundChannel::make_begun_calls() {
  if (!begun_calls_) begun_calls_ = std::make_unique<BegunCalls>();
  return *begun_calls_;
}

std::shared_ptr<BackgroundChannel> BackgroundChannel::of_persistent(const Communicator& communicator,
                                                                    std::uint64_t number) {
  if (!can_be_shared(communicator)) return nullptr;
  return std::make_shared<BackgroundChannel>(communicator, number);
}

BackgroundChannel::BackgroundChannel(const Communicator& parent, std::uint64_t number) {
  neighbors_ = neighbors_of(parent.handle, parent.rank);
  if (!neighbors_->has_topology) neighbors_.reset();
  communicator.handle = parent.handle;
  communicator.rank = parent.rank;
  communicator.ranks = parent.ranks;
  communicator.has_identity = true;
  communicator.identity = in_background(parent.identity, number << 1 | (neighbors_ && neighbors_->repeats ? 1 : 0));
  communicator.serial = parent.serial;
  communicator.is_background = true;
  communicator.is_persistent = number != 0;
}

BackgroundChannel::~BackgroundChannel() {
  if (!queue_) return;
  const std::lock_guard hold(channels_mutex);
  std::vector<BackgroundChannel*>& all = channels();
  all.erase(std::find(all.begin(), all.end(), this));
  queue_.reset();
}

std::unique_ptr<KeptWithCommunicator> BackgroundChannel::take_blocks() noexcept {
  const std::lock_guard<ProgramMutex> hold(blocks_mutex_);
  if (spare_blocks_.empty()) return nullptr;
  std::unique_ptr<KeptWithCommunicator> taken = std::move(spare_blocks_.back());
  spare_blocks_.pop_back();
  return taken;
}

void BackgroundChannel::keep_blocks(std::unique_ptr<KeptWithCommunicator> blocks) noexcept try {
  if (!blocks) return;
  const std::lock_guard<ProgramMutex> hold(blocks_mutex_);
  spare_blocks_.push_back(std::move(blocks));
} catch (...) {  // then the next call makes its own
}

// Not as std::shared_ptr counts: it may be that no two threads of the program are inside MPI at once.
void BackgroundChannel::let_go() noexcept {
  bool is_last = false;
  if (are_threads_together()) {
    is_last = users_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  } else {
    add_in_program(users_, -1);
    is_last = users_.load(std::memory_order_relaxed) == 0;
  }
  if (is_last) delete this;
}

collective::BackgroundQueue* BackgroundChannel::queue() {
  if (queue_) [[likely]]
    return queue_.get();
  auto made = std::make_unique<collective::BackgroundQueue>(communicator.group->group());
  const std::lock_guard hold(channels_mutex);
  channels().push_back(this);
  queue_ = std::move(made);
  also_drive(advance_own);
  return queue_.get();
}

void advance_background() noexcept {
  note_background_advance();
  const std::unique_lock hold(channels_mutex, std::try_to_lock);
  if (!hold) return;
  for (BackgroundChannel* const channel : channels()) channel->queue()->advance(collective::Advancing::caller);
}

bool help_background() noexcept {
  const std::unique_lock hold(channels_mutex, std::try_to_lock);
  if (!hold) return false;
  bool moved = false;
  for (BackgroundChannel* const channel : channels()) {
    collective::BackgroundQueue& queue = *channel->queue();
    if (!queue.somebody_waits() && queue.advance(collective::Advancing::helper)) moved = true;
  }
  return moved;
}

void forget_background_channels() noexcept {
  also_drive(nullptr);
  end_background_helper();
}

}  // namespace millrace::shim
