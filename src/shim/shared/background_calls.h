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
#include <tuple>

#include "collective/background.h"
#include "shim/call/exchange_call.h"
#include "shim/call/forwarded_collective.h"
#include "shim/shared/background_channel.h"
#include "shim/shared/repeat.h"
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

  // `how`: filled in, if there is one and in place of its own, as of attempt_collective().
  BackgroundOperation(ChannelInUse its_channel, Symbol its_symbol, std::span<const Word> its_words,
                      const CollectiveCall& its_call, Repeat* how);
  // One that is done as an earlier one was, whose `how` fits these buffers, and stays as it is until this has ended.
  BackgroundOperation(ChannelInUse its_channel, Symbol its_symbol, const Repeat& how, std::array<Word, 2> its_buffers,
                      std::unique_ptr<KeptWithCommunicator> its_blocks);
  static void work(void* self);
  void advance() const;
  void finish() const;
  bool has_ended() const { return call_in_background.has_ended(); }
  // Once it has ended: what the program is to be told.
  BackgroundFailure failure() const;

  // For what is to be found out about it.
  struct Anew {
    Anew(const CollectiveCall& its_call, Repeat* how) : call(its_call), repeat(how) {}
    std::array<Word, most_words> words;  // the program's own may be gone when it ends
    CollectiveCall call;
    std::optional<ExchangeCall> exchange;
    std::optional<Repeat> own;  // for the next ones of the channel
    Repeat* repeat;             // to be filled in, if any: that one, or a persistent call's
  };

  ChannelInUse channel;
  Symbol symbol;
  std::optional<Anew> anew;
  const Repeat* repeat = nullptr;  // else
  std::array<Word, 2> buffers{};   // then
  std::unique_ptr<KeptWithCommunicator> blocks;
  Attempt attempt = refused(record::Reason::not_agreed);
  mutable collective::BackgroundCall call_in_background{&work, this};
};

// Where what is known of a call is all that it takes to do it: memory for its lists, if it has such, and whether its
// buffers fit. Not: nothing was taken.
struct ReadyBlocks {
  bool is_ready = false;
  std::unique_ptr<KeptWithCommunicator> blocks;
};
ReadyBlocks ready_to_repeat(BackgroundChannel& channel, Repeat& how, std::array<Word, 2> buffers) noexcept;

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
  void leave_to_host_for_good() const;
  void remember(BackgroundChannel& channel, std::span<const Word> words, const Repeat& how) const noexcept;
  Word failed(std::span<const Word> words, int error) const;

  Symbol symbol_;
  const CollectiveCall& call_;
  BackgroundChannel* undecided_ = nullptr;  // the host's call counts there
  bool is_ours_ = false, is_nested_ = false;
  Word result_ = 0;
};

// Begins one as an earlier one was, if that was ours; or it is the host's, as that was; or it must be looked at anew.
enum class Begun : std::uint8_t { anew, ours, hosts };
Begun begin_as_before(Symbol symbol, CollectiveKind kind, std::span<const Word> words, Word& result) noexcept;

// By one thread, before the first collective in shared memory and after the last.
void prepare_background_calls();
void forget_background_calls() noexcept;

// ---- for the hooks ----

// A kind of call on a communicator that is the host's whatever else its words are, until some communicator ends. To
// find that out takes a tenth of what a small one takes the host. For each thread.
struct HostsBeginning {
  Symbol symbol = Symbol::count;  // of none
  Word comm = 0;
  std::uint64_t generation = 0;  // of communicators
};
inline thread_local constinit std::array<HostsBeginning, 16> hosts_beginnings
    __attribute__((tls_model("initial-exec")));

inline HostsBeginning& hosts_beginning(Symbol symbol, Word comm) {
  static_assert(std::tuple_size_v<decltype(hosts_beginnings)> == std::size_t{1} << 4);
  return hosts_beginnings[(comm * 0xd6e8feb86659fd93 + static_cast<Word>(symbol)) * 0x9e3779b97f4a7c15 >> 60];
}

// Of C only: the communicator is the last word but one.
template <Symbol symbol, class... Words>
[[gnu::always_inline]] inline bool host_begins(Words... words) {
  if constexpr (is_fortran(symbol)) {
    return false;
  } else {
    const Word comm = std::get<sizeof...(words) - 2>(std::tuple(words...));
    const HostsBeginning& known = hosts_beginning(symbol, comm);
    return known.comm == comm && known.symbol == symbol &&
           known.generation == communicator_generation.load(std::memory_order_acquire);
  }
}

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
