#include "shim/shared/background_channel.h"

#include <algorithm>
#include <mutex>

#include "shim/host/host_progress.h"
#include "shim/node/node_agreement.h"
#include "shim/node/node_group.h"
#include "shim/shared/background_helper.h"
#include "shim/shared/background_progress.h"

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
  auto made = std::make_shared<BackgroundChannel>(communicator, 0);
  made->itself_ = made;
  communicator.background = made;
  return made.get();
} catch (...) {
  communicator.background = std::shared_ptr<KeptWithCommunicator>(std::shared_ptr<KeptWithCommunicator>(), &lost);
  return nullptr;
}

std::shared_ptr<BackgroundChannel> BackgroundChannel::of_persistent(const Communicator& communicator,
                                                                    std::uint64_t number) {
  if (!can_be_shared(communicator)) return nullptr;
  auto made = std::make_shared<BackgroundChannel>(communicator, number);
  made->itself_ = made;
  return made;
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
  const std::lock_guard hold(blocks_mutex_);
  if (spare_blocks_.empty()) return nullptr;
  std::unique_ptr<KeptWithCommunicator> taken = std::move(spare_blocks_.back());
  spare_blocks_.pop_back();
  return taken;
}

void BackgroundChannel::keep_blocks(std::unique_ptr<KeptWithCommunicator> blocks) noexcept try {
  if (!blocks) return;
  const std::lock_guard hold(blocks_mutex_);
  spare_blocks_.push_back(std::move(blocks));
} catch (...) {  // then the next call makes its own
}

std::shared_ptr<BackgroundChannel> BackgroundChannel::keep() { return itself_.lock(); }

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
