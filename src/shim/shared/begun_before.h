// Nonblocking collectives of a channel about which everything hangs on their words alone, but for where their buffers
// are: the next one with the same words is begun as that one was (as remembered_calls.h has it of those that wait), by
// us or by the host. To find that out anew takes a third of what a small one takes.
//
// Of C's symbols; what is ours of them hangs on nothing that is decided anew. Handles among the words are predefined
// ones. By who makes the calls of the channel, one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "shim/bind/forward.h"
#include "shim/shared/remembered_calls.h"
#include "shim/shared/repeat.h"

namespace millrace::shim {

class BegunCall {
 public:
  static constexpr std::size_t most_words = 10;

  bool is_known() const { return symbol_ != Symbol::count; }
  // `words`: those of the call. Whether it is done as this one.
  bool is_as(Symbol symbol, std::span<const Word> words) const;
  // `buffers`: where the addresses of buffers stand among the words, the same one twice if there is one only.
  // `has_buffers`: there are some. `how`: without a run() the host begins it.
  void remember(Symbol symbol, std::span<const Word> words, std::array<std::uint8_t, 2> buffers, bool has_buffers,
                const Repeat& how);
  std::array<Word, 2> buffers_in(std::span<const Word> words) const { return {words[buffers_[0]], words[buffers_[1]]}; }

  bool is_hosts() const { return is_hosts_; }
  Repeat& repeat() { return repeat_; }  // of one that is not the host's

 private:
  // What is compared first; calls of much data find none of it in a cache.
  Symbol symbol_ = Symbol::count;  // of none
  std::uint8_t length_ = 0, kinds_of_buffers_ = 0;
  std::array<std::uint8_t, 2> buffers_{};
  bool is_hosts_ = false;
  std::array<Word, most_words> words_{};
  std::array<Word, most_words> significant_{};  // 0 for buffers and the request
  Repeat repeat_{};
};

class BegunCalls {
 public:
  // Where calls with these words have their place.
  BegunCall& place(Symbol symbol, CollectiveKind kind, std::span<const Word> words) {
    return calls_[(static_cast<Word>(symbol) + words[place_of_length(kind)]) * 0x9e3779b97f4a7c15 >> 61];
  }

 private:
  static constexpr std::size_t count = 8;  // by the upper three bits of a hash
  std::array<BegunCall, count> calls_{};
};

}  // namespace millrace::shim
