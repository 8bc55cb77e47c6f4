// A call that is counted and timed, or, in check mode, only marked.
#pragma once

#include <span>

#include "base/clock.h"
#include "entries.h"
#include "record/record.h"
#include "shim/bind/communicator_calls.h"
#include "shim/bind/word.h"

namespace millrace::shim {

// True in check mode, and then the entry of this symbol has been marked as seen.
bool marked_for_check(Symbol symbol);

// Starts observing `length` entries: seen[entry] is set to 1 by each later call, and no call reaches the host.
void begin_check(unsigned char* seen, std::size_t length);

// Bytes that the caller posted with a call that has succeeded, by the entry's rule in the table.
std::uint64_t posted_bytes(Symbol symbol, std::span<const Word> words);

// Whether a call from Fortran has succeeded, whose words say so, not its result. False of calls that post nothing,
// send nothing and are on no communicator: where their error stands is not asked.
bool has_posted_from_fortran(Symbol symbol, std::span<const Word> words);

// The outermost call of a thread, from construction to the end of the scope. What a host does inside it, calls back
// into MPI included (Fortran entries, user ops, attribute callbacks), belongs to that call and is not counted again.
class ObservedCall {
 public:
  explicit ObservedCall(Symbol symbol) : symbol_(symbol), outermost_(depth++ == 0), start_ticks_(clock_ticks()) {}
  ~ObservedCall() { --depth; }
  ObservedCall(const ObservedCall&) = delete;
  ObservedCall& operator=(const ObservedCall&) = delete;

  bool outermost() const { return outermost_; }
  static bool any_open() { return depth != 0; }  // in this thread

  std::uint64_t start_ticks() const { return start_ticks_; }
  // The first time counts: what is done of the report's work after it is not in the call.
  std::uint64_t stop() {
    if (end_ticks_ == 0) end_ticks_ = clock_ticks();
    return end_ticks_;
  }
  void add(std::uint64_t bytes, std::uint16_t algorithm, record::Reason reason) {
    if (outermost_)
      record::add_call(static_cast<std::uint16_t>(symbol_entry(symbol_)), bytes, end_ticks_ - start_ticks_, algorithm,
                       reason, end_ticks_);
  }
  // And on its communicator, of a call that has succeeded with these words.
  void add(std::uint64_t bytes, std::uint16_t algorithm, record::Reason reason, std::span<const Word> words) {
    add(bytes, algorithm, reason);
    if (outermost_ && communicator_of(symbol_) >= 0)
      note_communicator_call(symbol_, words, bytes, end_ticks_ - start_ticks_, reason == record::Reason::none);
  }

 private:
  static thread_local int depth __attribute__((tls_model("initial-exec")));
  Symbol symbol_;
  bool outermost_;
  std::uint64_t start_ticks_;
  std::uint64_t end_ticks_ = 0;
};

}  // namespace millrace::shim
