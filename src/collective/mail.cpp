#include "collective/mail.h"

#include <algorithm>
#include <new>

namespace millrace::collective {

bool Mail::open(const GroupShape& shape) {
  ranks_ = shape.ranks;
  letters_ = shape.letters;
  free_units_ = ~std::uint64_t{0};
  peers_.reset(new (std::nothrow) Peer[ranks_]);
  units_.reset(new (std::nothrow) std::uint64_t[ranks_ * letters_]());
  rows_.reset(new (std::nothrow) std::uint32_t[ranks_ * letters_]());
  lists_.reset(new (std::nothrow) std::uint32_t[2 * ranks_]);
  return peers_ && units_ && rows_ && lists_ && make_room(ranks_, ranks_);
}

bool Mail::make_room(std::size_t sends, std::size_t receives) {
  if (sends <= most_sends_ && receives <= most_receives_) return true;
  const std::size_t most_sends = std::max(sends, most_sends_), most_receives = std::max(receives, most_receives_);
  std::unique_ptr<std::uint32_t[]> chains(new (std::nothrow) std::uint32_t[most_sends + most_receives]);
  if (!chains) return false;
  chains_ = std::move(chains);
  most_sends_ = most_sends;
  most_receives_ = most_receives;
  return true;
}

}  // namespace millrace::collective
