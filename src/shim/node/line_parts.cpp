// Parts of each member for each other one, straight from and into memory of the caller's: of what is to be reduced each
// byte crosses once on its way to whom it is reduced by, and none is copied. (The direct exchange of parts that Thakur,
// Rabenseifner and Gropp, IJHPCA 19, 2005, have for long reduce-scatters, without its steps: of few members all can be
// under way at once.)
//
// Parts have no labels, so all members meet before them: they are all in the same step of the same call then, and
// nothing can fail on the way but the host. Once a call is not enough. Ranks of a node whose counts differ find out in
// the first piece in which their counts do; who does not come to it refuses, which parts that are under way would not
// hear of.
#include <array>

#include "abi.h"
#include "shim/bind/attention.h"
#include "shim/bind/forward.h"
#include "shim/node/line_trips.h"

namespace millrace::shim {
namespace {

using collective::Result;

constexpr Word part_tag = 4;

}  // namespace

Result LineTrips::swap_parts(std::span<const Swapped> parts) {
  announce_traffic();
  const InsideHost inside;
  std::array<Word, std::size_t{2} * most_one_by_one> requests{};
  std::size_t begun = 0;
  for (std::uint32_t distance = 1; distance < nodes_; ++distance) {
    const std::uint32_t from = (node_ + nodes_ - distance) % nodes_;
    const Swapped& part = parts[from];
    if (part.received_bytes != 0 &&
        host<Symbol::MPI_Irecv>(as_word(part.received), static_cast<Word>(part.received_bytes), abi::byte_type(), from,
                                part_tag, line_, as_word(&requests[begun++])) != 0)
      return Result::rank_failed;
  }
  for (std::uint32_t distance = 1; distance < nodes_; ++distance) {
    const std::uint32_t to = (node_ + distance) % nodes_;
    const Swapped& part = parts[to];
    if (part.sent_bytes != 0 &&
        host<Symbol::MPI_Isend>(as_word(part.sent), static_cast<Word>(part.sent_bytes), abi::byte_type(), to, part_tag,
                                line_, as_word(&requests[begun++])) != 0)
      return Result::rank_failed;
  }
  for (std::size_t index = 0; index < begun; ++index)
    if (const Result result = end(requests[index], Ends::always); result != Result::ok) return result;
  return Result::ok;
}

}  // namespace millrace::shim
