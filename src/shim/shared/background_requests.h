// The requests of background_calls.h, and the calls that complete them or ask about them (MPI 4.1, 3.7.3 to 3.7.5).
//
// Such a call is done in two steps: what is ours is waited for or looked at here, and its handle becomes
// MPI_REQUEST_NULL where it has ended; then the host does the call with what is left, so that statuses, flags and
// indices are its own. A call that waits for requests of the host's looks at them (MPI_Request_get_status) as long as
// nonblocking collectives are open, and moves those on in between.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "shim/bind/forward.h"
#include "shim/shared/background_calls.h"

namespace millrace::shim {

struct BackgroundToken;

// A request that no operation has.
class BackgroundRequest {
 public:
  BackgroundRequest() noexcept;
  ~BackgroundRequest();
  BackgroundRequest(const BackgroundRequest&) = delete;
  BackgroundRequest& operator=(const BackgroundRequest&) = delete;
  explicit operator bool() const { return token_ != nullptr; }  // false: the host makes none, or there is no memory
  // Its operation, to be run; it ends with this object, unless the program is given the request. Throws std::bad_alloc.
  BackgroundOperation& begin(BackgroundChannel& channel, Symbol symbol, std::span<const Word> words,
                             const CollectiveCall& call);
  BackgroundOperation& begin(BackgroundChannel& channel, Symbol symbol, const Repeat& how, std::array<Word, 2> buffers,
                             std::unique_ptr<KeptWithCommunicator> blocks) noexcept;
  // The program has it from now on.
  void give(bool from_fortran, Word address);

 private:
  BackgroundToken* token_;
};

// What the host does with the words of a call, or of one with the same words and another name.
using AsUsual = Word (*)(const Word* words);

// A call that completes requests, or asks about them, while some of ours are open. `usual`: of its own entry; `tests`:
// for MPI_Waitany MPI_Testany, and for MPI_Waitsome MPI_Testsome, in the same language, else null.
Word observed_completion(Symbol symbol, std::span<Word> words, AsUsual usual, AsUsual tests);
// MPI_Request_free.
Word free_in_background(Symbol symbol, std::span<Word> words, AsUsual usual);

}  // namespace millrace::shim
