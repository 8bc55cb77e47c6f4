// Collectives that are begun now and end later. Each runs on a stack of its own (base/fiber.h), which it leaves
// wherever it would wait, and is resumed whenever somebody advances it: so each algorithm of the calls that wait serves
// here, too.
//
//   BackgroundQueue queue(group);             // the group has started, and is used through the queue from now on
//   BackgroundCall call(work, context);       // `work` calls allreduce(group, ...) or the like, once or several times
//   queue.begin(call);
//   queue.advance(Advancing::caller); ... call.has_ended() ...
//   queue.finish(call);                       // waits
//
// Calls of a group are done one after the other, in the order in which they were begun, which is the same on all ranks:
// one that all have begun never waits for what only some have.
//
// Threads: those of the program, which are inside MPI one at a time or not (base/program_threads.h), and one helper.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/fiber.h"
#include "collective/group.h"

namespace millrace::collective {

class BackgroundQueue;

class BackgroundCall {
 public:
  using Work = void (*)(void* context);
  BackgroundCall(Work work, void* context) : work_(work), context_(context) {}
  BackgroundCall(const BackgroundCall&) = delete;
  BackgroundCall& operator=(const BackgroundCall&) = delete;

  // Its work has called the group: from then on the other ranks count on it. For who begins it.
  bool has_entered() const { return has_entered_; }
  // Its work has returned; what that wrote is seen.
  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }  // partner: BackgroundQueue::run()

  // The call in whose work this is, or null.
  static BackgroundCall* current();
  // What follows in its work is for threads of the program only, that are inside a call of MPI.
  void keep_from_helpers() { is_kept_.store(true, std::memory_order_relaxed); }

 private:
  friend class BackgroundQueue;
  friend class Group;
  Work work_;
  void* context_;
  Fiber* fiber_ = nullptr;
  BackgroundCall* next_ = nullptr;  // in the queue
  bool drives_ = false;             // who begins it holds the queue, so it may go on if it is the first
  bool has_entered_ = false, is_queued_ = true;
  std::atomic<bool> is_kept_{false}, has_ended_{false};
};

enum class Advancing : std::uint8_t { caller, helper };  // a thread of the program; the one that helps it

class BackgroundQueue {
 public:
  // The group must outlive it.
  explicit BackgroundQueue(Group& group);
  ~BackgroundQueue();  // when all calls have ended
  BackgroundQueue(const BackgroundQueue&) = delete;
  BackgroundQueue& operator=(const BackgroundQueue&) = delete;

  // Runs the call until it waits or has ended. False: no memory for a stack, and nothing was done. One at a time, by
  // whoever makes the calls of this group; waits for nobody.
  bool begin(BackgroundCall& call);

  bool is_empty() const { return first_.load(std::memory_order_relaxed) == nullptr; }
  // Moves calls on as far as they go without waiting, unless another thread does. True: something has ended, or moved
  // to another wait. Thread-safe.
  bool advance(Advancing who);
  // Waits until the call has ended, as calls of the group wait: drives the host, sleeps where ranks share cores.
  // Thread-safe.
  void finish(BackgroundCall& call);
  // Threads in finish().
  bool somebody_waits() const { return waiters_.load(std::memory_order_relaxed) != 0; }

 private:
  friend class Group;
  bool try_drive(Advancing who) { return who == Advancing::caller ? try_drive() : try_drive_as_helper(); }
  bool try_drive();
  bool try_drive_as_helper();
  void stop_driving(Advancing who = Advancing::caller) {
    (who == Advancing::caller ? driven_ : helped_).store(false, std::memory_order_release);  // partner: try_drive()
  }
  bool run(Advancing who);
  void append(BackgroundCall& call);
  void append_unlocked(BackgroundCall& call);
  void remove_first(BackgroundCall& call, Advancing who);
  bool may_go_on() const;
  static void work(void* call);

  Group& group_;
  // Of the order, between who drives and who begins without driving; held for a few loads and stores.
  std::atomic<bool> locked_{false};
  std::atomic<BackgroundCall*> first_{nullptr};
  BackgroundCall* last_ = nullptr;
  // A thread runs the first call, and reads what is below: one of the program's, or the helper.
  std::atomic<bool> driven_{false}, helped_{false};
  std::atomic<std::uint32_t> waiters_{0};
  const Group::Awaited* awaited_ = nullptr;  // of the first call, where it was left: on its stack
  std::uint64_t left_ = 0;                   // how often a call was left for another wait
  FiberStack spare_;                         // of calls that have ended, for the next ones
};

}  // namespace millrace::collective
