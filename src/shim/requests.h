// Requests of nonblocking and persistent messages of ours: what must be unpacked or given back when they complete.
//
// A request is found by its handle, which the host may give to the next operation of any thread as soon as this one has
// completed. So completion calls look their requests up before they call the host, keep the pointers, and take them out
// afterwards; in between, a newer operation with the same handle lies before the older one in its list and is found.
// MPI forbids two threads to complete one request (MPI 4.1, 11.6.2), so an operation has one owner at a time.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "shim/layout_message.h"

namespace millrace::shim {

struct Operation {
  Word request = 0;
  std::optional<Message> outgoing;  // either, or both
  std::optional<Message> incoming;
  bool replaces = false;  // the outgoing message is also the incoming one (MPI_Isendrecv_replace)
  bool persistent = false;
  bool active = true;
  bool delivered = false;  // unpacked; MPI_Request_get_status may say so before the completion call
  Operation* next = nullptr;

  const Message* received() const {
    const std::optional<Message>& message = replaces ? outgoing : incoming;
    return message ? &*message : nullptr;
  }
  // Unpacks what came, once.
  void deliver(const void* status);
};

// All of them, inactive persistent and abandoned ones included: the one load that completion calls pay. Relaxed: who
// has a tracked request got it from the thread that tracked it, after that.
extern std::atomic<int> tracked_requests;
inline bool any_tracked() { return __builtin_expect(tracked_requests.load(std::memory_order_relaxed) != 0, 0); }

void track(std::unique_ptr<Operation> operation);
Operation* find_operation(Word request);                   // null if it is not ours
std::unique_ptr<Operation> untrack(Operation& operation);  // to be destroyed by the caller

// The operation has completed, successfully or not.
void finish(Operation& operation);

// MPI_Request_free on an active one: its buffer must live until it completes, so the host's request is kept, and tested
// whenever a call deals with tracked requests.
void abandon(std::unique_ptr<Operation> operation);
void test_abandoned();
void forget_requests();  // before MPI_Finalize

}  // namespace millrace::shim
