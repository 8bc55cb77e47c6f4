// The requests of nonblocking and persistent collectives that are ours, by their handles.
//
// A nonblocking one's is a handle of the host's that nobody else has, and that is used again and again. A persistent
// one's is the host's own for that collective, which the host may as well be asked to start.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "shim/shared/background_calls.h"
#include "shim/shared/persistent_call.h"

namespace millrace::shim {

struct BackgroundToken {
  Word handle = 0;
  std::optional<BackgroundOperation> operation;  // none: nothing of ours is under way
  std::unique_ptr<PersistentCall> persistent;    // of a request that is the program's until it frees it
  bool is_freed = false;                         // by the program, and is still under way
  BackgroundToken* next = nullptr;               // of those that the program does not have
};

// One for a nonblocking call, which the program does not have yet; null: the host makes none, or there is no memory.
BackgroundToken* take_token() noexcept;
// After its operation has gone.
void give_token_back(BackgroundToken& token);

// The token behind a request with something of ours under way, or null.
BackgroundToken* find_token(Word request);

// Its operation has been begun, and completion calls find it from now on. Of a nonblocking one the program has the
// handle.
void note_begun(BackgroundToken& token);
// It has ended, and the program has completed it, or never will.
void end_operation(BackgroundToken& token);
// MPI_Request_free of one that is under way; end_freed() lets go those that have ended since.
void free_token(BackgroundToken& token);
void end_freed();

// Requests of persistent collectives that are known here: the one load that MPI_Start and MPI_Request_free pay.
extern std::atomic<int> persistent_requests;
inline bool any_persistent() { return __builtin_expect(persistent_requests.load(std::memory_order_relaxed) != 0, 0); }

// The host has made this request. False: no memory, and it is not known.
bool keep_persistent(Word request, std::unique_ptr<PersistentCall> call) noexcept;
// The token of such a request, under way or not, or null.
BackgroundToken* find_persistent(Word request);
// It is being freed. What is under way goes on.
void free_persistent(BackgroundToken& token);

void forget_tokens() noexcept;  // before MPI_Finalize

}  // namespace millrace::shim
