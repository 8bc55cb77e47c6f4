// Requests of nonblocking and persistent messages and collectives of ours: what must be unpacked or given back when
// they complete.
//
// A request is found by its handle, which the host may give to the next operation of any thread as soon as this one has
// completed: also to one that is not ours, and would then be taken for this one. So completion calls hold their
// requests, which nobody finds meanwhile, before they call the host, and let go those that have not completed. MPI
// forbids two threads to complete one request (MPI 4.1, 11.6.2), so an operation has one owner at a time. Persistent
// requests keep their handle and are not held.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "shim/packed/message.h"
#include "shim/packed/packed_exchange.h"

namespace millrace::shim {

struct Operation {
  Word request = 0;
  std::optional<PackedMessage> outgoing;  // either, or both
  std::optional<PackedMessage> incoming;
  bool replaces = false;                     // the outgoing message is also the incoming one (MPI_Isendrecv_replace)
  std::unique_ptr<PackedExchange> exchange;  // of a collective, which has no messages
  bool persistent = false;
  bool active = true;
  bool delivered = false;         // unpacked; MPI_Request_get_status may say so before the completion call
  std::atomic<bool> held{false};  // set under the lock of its shard, cleared by who has set it
  Operation* next = nullptr;

  const PackedMessage* received() const {
    const std::optional<PackedMessage>& message = replaces ? outgoing : incoming;
    return message ? &*message : nullptr;
  }
  bool receives() const { return received() || (exchange && exchange->receives()); }
  // Before it is started.
  void pack() const;
  // Unpacks what came, once. Of a collective everything has come, whatever the status says.
  void deliver(const void* status);
};

// All of them, inactive persistent and abandoned ones included: the one load that completion calls pay. Relaxed: who
// has a tracked request got it from the thread that tracked it, after that.
extern std::atomic<int> tracked_requests;
inline bool any_tracked() { return __builtin_expect(tracked_requests.load(std::memory_order_relaxed) != 0, 0); }

void track(std::unique_ptr<Operation> operation);
Operation* find_operation(Word request);                   // null if it is not ours, or held
std::unique_ptr<Operation> untrack(Operation& operation);  // to be destroyed by the caller

// The operation behind a request that a call may complete; nothing if it is not ours, or not active. Unless its owner
// says that it ended, it can be found again afterwards.
class Held {
 public:
  Held() = default;
  // `may_free`: the call ends requests that are not persistent.
  Held(Word request, bool may_free);
  Held(Held&& other) noexcept
      : operation_(std::exchange(other.operation_, nullptr)), holds_(std::exchange(other.holds_, false)) {}
  Held& operator=(Held&&) = delete;
  ~Held();

  explicit operator bool() const { return operation_ != nullptr; }
  Operation& operator*() const { return *operation_; }
  Operation* operator->() const { return operation_; }
  // It has completed.
  void end();
  // It has failed. Hosts report a message that was too long when it begins to come, and go on writing what there is
  // room for: the buffer is not used again.
  void end_failed();

 private:
  Operation* operation_ = nullptr;
  bool holds_ = false;  // not so of persistent ones
};

// MPI_Request_free on an active one: its buffer must live until it completes, so the host's request is kept, and tested
// whenever a call deals with tracked requests.
void abandon(std::unique_ptr<Operation> operation);
void test_abandoned();
void forget_requests();  // before MPI_Finalize

}  // namespace millrace::shim
