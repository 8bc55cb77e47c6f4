// Nonblocking collectives (MPI 4.1, 6.12) in shared memory, where the ranks of the communicator have agreed on it: each
// is a blocking one of ours that runs in the background (collective/background.h), and is moved on by calls that
// complete requests, by calls of ours that wait, and else by a thread (background_helper.h).
//
// Their requests are handles of the host's that nobody else has: persistent receives from MPI_PROC_NULL that are never
// started. So whatever a program may do with a handle (keep it in Fortran, compare it) it can do with these; what
// completes them is background_requests.h.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <span>

#include "collective/background.h"
#include "shim/call/exchange_call.h"
#include "shim/call/forwarded_collective.h"
#include "shim/shared/background_channel.h"
#include "shim/shared/shared_attempt.h"

namespace millrace::shim {

// An error and the communicator whose handler hears of it; 0: none.
struct BackgroundFailure {
  int error = 0;
  Word comm = 0;
};

// One that has been begun.
struct BackgroundOperation {
  static constexpr std::size_t most_words = 12;

  // `its_channel`: kept, or without an owner where something else keeps it for longer than this.
  BackgroundOperation(std::shared_ptr<BackgroundChannel> its_channel, Symbol its_symbol,
                      std::span<const Word> its_words, const CollectiveCall& its_call);
  static void work(void* self);
  void advance() const;
  void finish() const;
  bool has_ended() const { return call_in_background.has_ended(); }
  // Once it has ended: what the program is to be told.
  BackgroundFailure failure() const;

  std::shared_ptr<BackgroundChannel> channel;
  Symbol symbol;
  std::array<Word, most_words> words;  // the program's own may be gone when it ends
  CollectiveCall call;
  std::optional<ExchangeCall> exchange;
  std::unique_ptr<KeptWithCommunicator> blocks;
  Attempt attempt = refused(record::Reason::not_agreed);
  Repeat* repeat = nullptr;  // of a persistent call, which is the same at each start
  mutable collective::BackgroundCall call_in_background{&work, this};
};

// By which such calls are counted: the same on all ranks.
std::uint16_t background_number(const CollectiveCall& call);

// One call of the program that begins a nonblocking collective.
class BackgroundBeginning {
 public:
  BackgroundBeginning(Symbol symbol, std::span<const Word> words, const CollectiveCall& call);

  // It has been begun, or has failed; else the host is to do it.
  bool is_ours() const { return is_ours_; }
  Word result() const { return result_; }
  // The same call once more, from inside of the host.
  bool is_nested() const { return is_nested_; }
  void host_has_begun(bool succeeded, std::span<const Word> words);

 private:
  void begin(BackgroundChannel& channel, std::span<const Word> words);
  Word failed(std::span<const Word> words, int error) const;

  Symbol symbol_;
  const CollectiveCall& call_;
  BackgroundChannel* undecided_ = nullptr;  // the host's call counts there
  bool is_ours_ = false, is_nested_ = false;
  Word result_ = 0;
};

// By one thread, before the first collective in shared memory and after the last.
void prepare_background_calls();
void forget_background_calls() noexcept;

// ---- for the hooks ----

// `host`: does the call as if there were no others.
template <Symbol symbol, std::size_t length, class Host>
Word begun_in_background(const std::array<Word, length>& words, const CollectiveCall& call, const Host& host) {
  BackgroundBeginning beginning(symbol, words, call);
  if (beginning.is_ours()) return beginning.result();
  if (beginning.is_nested()) return host();
  const ForwardedCollective forwarded(static_cast<std::uint16_t>(symbol_entry(symbol)), call.from_fortran, call.comm);
  const Word result = host();
  beginning.host_has_begun(has_succeeded(symbol, result, words), words);
  return result;
}

}  // namespace millrace::shim
