#include "shim/shared/begun_before.h"

#include <algorithm>

namespace millrace::shim {
namespace {

std::uint8_t kinds_of(std::span<const Word> words, std::array<std::uint8_t, 2> buffers) {
  return static_cast<std::uint8_t>(RememberedCall::kind_of_buffer(false, words[buffers[0]]) |
                                   RememberedCall::kind_of_buffer(false, words[buffers[1]]) << 2);
}

}  // namespace

bool BegunCall::is_as(Symbol symbol, std::span<const Word> words) const {
  if (symbol_ != symbol) return false;
  // Word by word, each with its branch: as in is_as_before().
  for (std::size_t index = 0; index < length_; ++index)
    if (((words[index] ^ words_[index]) & significant_[index]) != 0) return false;
  return kinds_of(words, buffers_) == kinds_of_buffers_;
}

void BegunCall::remember(Symbol symbol, std::span<const Word> words, std::array<std::uint8_t, 2> buffers,
                         bool has_buffers, const Repeat& how) {
  symbol_ = symbol;
  length_ = static_cast<std::uint8_t>(words.size());
  buffers_ = buffers;
  kinds_of_buffers_ = kinds_of(words, buffers);
  std::copy(words.begin(), words.end(), words_.begin());
  significant_.fill(~Word{0});
  significant_[words.size() - 1] = 0;
  if (has_buffers)
    for (const std::uint8_t buffer : buffers) significant_[buffer] = 0;
  is_hosts_ = how.run == nullptr;
  repeat_ = how;
}

}  // namespace millrace::shim
