// A persistent collective (MPI 4.1, 6.13) as it was prepared: its arguments in C's terms, whatever language they came
// in. What the program may free or write anew before it starts the call is copied.
//
// Ranks may start the persistent collectives of a communicator in different orders. So each has a channel of its own,
// named by its number among those of the communicator, whose only calls are its starts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "shim/call/exchange_call.h"
#include "shim/call/forwarded_collective.h"
#include "shim/shared/background_channel.h"
#include "shim/shared/repeat.h"
#include "shim/shared/shared_collectives.h"

namespace millrace::shim {

class PersistentCall {
 public:
  // `its_call`: as it was read from the words of the call that prepares it. Throws std::bad_alloc.
  PersistentCall(std::shared_ptr<BackgroundChannel> its_channel, Symbol its_symbol, std::span<const Word> its_words,
                 const CollectiveCall& its_call);
  ~PersistentCall();
  PersistentCall(const PersistentCall&) = delete;
  PersistentCall& operator=(const PersistentCall&) = delete;

  BackgroundChannel& channel() const { return *channel_; }
  Symbol symbol() const { return symbol_; }  // of C
  std::span<const Word> words() const { return std::span(words_).first(length_); }
  const CollectiveCall& call() const { return call_; }
  std::uint64_t bytes() const { return bytes_; }  // that each start posts
  // Of its starts, once there was one.
  Repeat& repeat() { return repeat_; }
  // Its communicator is there no more.
  bool is_orphaned() const;

  // Why the host does each start, by what all ranks know; none: nothing is known to be against it.
  record::Reason refusal = record::Reason::none;

 private:
  void keep_exchange(Symbol symbol, std::span<const Word> words, const ExchangeCall& exchange);
  void keep_side(const ExchangeCall& exchange, const ExchangeSide& side, std::size_t blocks, bool is_significant);
  Word keep(const void* array, std::size_t bytes);
  Word keep_type(Word handle);

  std::shared_ptr<BackgroundChannel> channel_;
  Symbol symbol_;
  std::array<Word, 12> words_{};
  std::size_t length_ = 0;
  CollectiveCall call_;
  std::optional<ExchangeCall> exchange_;
  std::uint64_t bytes_ = 0;
  Repeat repeat_;
  std::vector<std::unique_ptr<std::byte[]>> arrays_;
  std::vector<Word> types_;  // to be freed
};

// After the host has, or has not, prepared this call: from now on it may be ours to start. Never throws.
void prepared_by_host(Symbol symbol, std::span<const Word> words, const CollectiveCall& call, bool succeeded) noexcept;

// ---- for the hooks ----

// `host`: does the call as if there were no others.
template <Symbol symbol, std::size_t length, class Host>
Word prepared_in_background(const std::array<Word, length>& words, const CollectiveCall& call, const Host& host) {
  const auto entry = static_cast<std::uint16_t>(symbol_entry(symbol));
  if (ForwardedCollective::is_nested(entry, call.from_fortran, call.comm)) return host();
  const ForwardedCollective forwarded(entry, call.from_fortran, call.comm);
  const Word result = host();
  prepared_by_host(symbol, words, call, has_succeeded(symbol, result, words));
  return result;
}

}  // namespace millrace::shim
