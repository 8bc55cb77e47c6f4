#include "collective/background.h"

#include <sched.h>

#include <optional>

#include "base/light_fence.h"
#include "base/program_threads.h"

namespace millrace::collective {

BackgroundCall* BackgroundCall::current() {
  Fiber* const fiber = Fiber::current();
  return fiber ? static_cast<BackgroundCall*>(fiber->context()) : nullptr;
}

BackgroundQueue::BackgroundQueue(Group& group) : group_(group) {
  group.background_ = this;
  group.polls_ = 1;  // to look again is somebody else's turn
}

BackgroundQueue::~BackgroundQueue() { group_.background_ = nullptr; }

// Two threads of the program exclude each other by a locked operation, if there may be two at all. With the helper,
// which comes seldom, each says that it drives and then looks whether the other does: if both do, both step back.
bool BackgroundQueue::try_drive() {
  if (are_threads_together()) {
    if (driven_.exchange(true, std::memory_order_seq_cst)) return false;
  } else {
    if (driven_.load(std::memory_order_relaxed)) return false;  // this thread does, further out
    driven_.store(true, std::memory_order_relaxed);
    light_fence();  // partner: heavy_fence() below
  }
  if (!helped_.load(std::memory_order_seq_cst)) [[likely]]  // partner: stop_driving()
    return true;
  driven_.store(false, std::memory_order_release);
  return false;
}

bool BackgroundQueue::try_drive_as_helper() {
  helped_.store(true, std::memory_order_seq_cst);
  if (!are_threads_together()) heavy_fence();
  if (!driven_.load(std::memory_order_seq_cst)) return true;  // partner: stop_driving()
  helped_.store(false, std::memory_order_release);
  return false;
}

// In the work of a call, before each call of the group.
Result Group::await_turn() {
  BackgroundCall& call = *BackgroundCall::current();
  if (call.has_entered_) return Result::ok;  // it is the first until it ends
  call.has_entered_ = true;
  if (call.drives_ && background_->is_empty()) {
    background_->append_unlocked(call);  // nobody else appends, and who removes is who drives
    return Result::ok;
  }
  // Nobody may see it in the queue before it has been left.
  call.is_queued_ = false;
  Fiber::suspend();
  return broken_;
}

Result Group::suspend(Patience& patience, const Awaited& awaited) {
  BackgroundQueue& queue = *background_;
  if (patience.round == 0) ++queue.left_;
  if (const Result result = look(patience); result != Result::ok) return result;
  queue.awaited_ = &awaited;
  Fiber::suspend();
  queue.awaited_ = nullptr;
  return broken_;
}

void BackgroundQueue::work(void* context) {
  auto& call = *static_cast<BackgroundCall*>(context);
  call.work_(call.context_);
}

bool BackgroundQueue::begin(BackgroundCall& call) {
  const bool drives = call.drives_ = try_drive();
  call.fiber_ = drives ? spare_.pop() : nullptr;
  if (!call.fiber_) call.fiber_ = Fiber::take();
  if (!call.fiber_) {
    if (drives) stop_driving();
    return false;
  }
  call.fiber_->start(&work, &call);
  if (call.has_entered_) {
    // One that is queued already is the first, and has just been left because it waits.
    const bool goes_on = !call.is_queued_ || call.fiber_->has_returned();
    if (!call.is_queued_) append(call);
    // Where it is not driven here, it may have been moved on by others by now, and have ended.
    if (drives) {
      if (goes_on) run(Advancing::caller);
      stop_driving();
    }
    return true;
  }
  call.has_ended_.store(true, std::memory_order_relaxed);
  if (drives) {
    spare_.push(call.fiber_);
    stop_driving();
  } else {
    call.fiber_->give_back();
  }
  return true;
}

namespace {

class Locked {
 public:
  explicit Locked(std::atomic<bool>& lock) : lock_(lock) {
    while (lock_.exchange(true, std::memory_order_acquire)) sched_yield();  // partner: the store below
  }
  ~Locked() { lock_.store(false, std::memory_order_release); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  std::atomic<bool>& lock_;
};

}  // namespace

void BackgroundQueue::append(BackgroundCall& call) {
  const Locked hold(locked_);
  append_unlocked(call);
}

void BackgroundQueue::append_unlocked(BackgroundCall& call) {
  if (last_)
    last_->next_ = &call;
  else
    first_.store(&call, std::memory_order_release);  // with its stack as it was left; partner: run()
  last_ = &call;
}

void BackgroundQueue::remove_first(BackgroundCall& call, Advancing who) {
  // Who begins calls is the thread that drives, then.
  const bool is_alone = who == Advancing::caller && !are_threads_together();
  std::optional<Locked> hold;
  if (!is_alone) hold.emplace(locked_);
  first_.store(call.next_, std::memory_order_relaxed);
  if (!call.next_) last_ = nullptr;
}

// By who drives.
bool BackgroundQueue::run(Advancing who) {
  bool moved = false;
  // Partner: append(), by who begins a call while this thread drives: nothing else orders the two.
  while (BackgroundCall* const call = first_.load(std::memory_order_acquire)) {
    if (who == Advancing::helper && call->is_kept_.load(std::memory_order_relaxed)) return moved;
    const std::uint64_t left = left_;
    if (!call->fiber_->has_returned()) call->fiber_->resume();
    moved = moved || left != left_;
    if (!call->fiber_->has_returned()) return moved;
    moved = true;
    remove_first(*call, who);
    spare_.push(call->fiber_);
    // The last look at it: who waits for it may end its life. Partner: has_ended().
    call->has_ended_.store(true, std::memory_order_release);
  }
  return moved;
}

bool BackgroundQueue::advance(Advancing who) {
  if (is_empty() || !try_drive(who)) return false;
  const bool moved = run(who);
  stop_driving(who);
  return moved;
}

// Whether what the first call was left for may have come. By who drives.
bool BackgroundQueue::may_go_on() const {
  // Who waits for several, or for no value, does more than look: a sender may help who reads.
  if (!awaited_ || !awaited_->flag) return true;
  return awaited_->least == ~std::uint64_t{0} ||
         awaited_->flag->load(std::memory_order_acquire) >= awaited_->least;  // partner: Group::publish()
}

void BackgroundQueue::finish(BackgroundCall& call) {
  if (call.has_ended()) return;
  if (try_drive()) {
    if (may_go_on()) run(Advancing::caller);
    stop_driving();
    if (call.has_ended()) return;
  }
  add_in_program(waiters_, 1u);
  // Who shares its core had better give it away.
  const std::uint32_t spins = group_.waiting() == Waiting::spin ? 1000 : 1;
  Group::Patience patience;
  std::uint32_t polls = spins;
  while (!call.has_ended()) {
    if (!try_drive()) {
      sched_yield();
      continue;
    }
    // What breaks the group is seen by the call only, so that is resumed at times.
    if ((polls == 0 || may_go_on()) && run(Advancing::caller)) {
      patience = {};
      polls = spins;
    } else if (polls == 0) {
      if (awaited_) static_cast<void>(group_.wait_a_round(patience, *awaited_));
    }
    if (!call.has_ended())
      for (; polls != 0 && !may_go_on(); --polls) shared_memory::cpu_pause();
    if (polls != 0) --polls;
    stop_driving();
  }
  add_in_program(waiters_, ~0u);
}

}  // namespace millrace::collective
