// Parts of each member for each other one, straight from and into memory of the caller's: of what is to be reduced each
// byte crosses once on its way to whom it is reduced by, and none is copied. (The direct exchange of parts that Thakur,
// Rabenseifner and Gropp, IJHPCA 19, 2005, have for long reduce-scatters, without its steps: of few members all can be
// under way at once.)
//
// Parts have no labels, so all members meet before them: they are all in the same step of the same call then, and
// nothing can fail on the way but the host. Once a call is not enough. Ranks of a node whose counts differ find out in
// the first piece in which their counts do; who does not come to it refuses, which parts that are under way would not
// hear of.
#include "abi.h"
#include "shim/bind/attention.h"
#include "shim/bind/forward.h"
#include "shim/node/line_trips.h"

namespace millrace::shim {
namespace {

using collective::Result;

constexpr Word part_tag = 4;

}  // namespace

template <class Begin>
Result LineTrips::begin_pieces(std::size_t part_bytes, Begin begin) {
  const std::size_t pieces = part_bytes == 0 ? 0 : pieces_of(part_bytes);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::size_t first = piece_begin(part_bytes, piece, pieces), end = piece_begin(part_bytes, piece + 1, pieces);
    if (begin(first, static_cast<Word>(end - first), as_word(&next_under_way())) != 0) return Result::rank_failed;
  }
  return Result::ok;
}

Result LineTrips::swap_parts(std::span<const Swapped> parts) {
  announce_traffic();
  const InsideHost inside;
  for (std::uint32_t distance = 1; distance < nodes_; ++distance) {
    const std::uint32_t from = (node_ + nodes_ - distance) % nodes_;
    const auto receive = [&](std::size_t first, Word bytes, Word request) {
      return host<Symbol::MPI_Irecv>(as_word(parts[from].received + first), bytes, abi::byte_type(), from, part_tag,
                                     line_, request);
    };
    if (const Result result = begin_pieces(parts[from].received_bytes, receive); result != Result::ok) return result;
  }
  for (std::uint32_t distance = 1; distance < nodes_; ++distance) {
    const std::uint32_t to = (node_ + distance) % nodes_;
    const auto send = [&](std::size_t first, Word bytes, Word request) {
      return host<Symbol::MPI_Isend>(as_word(parts[to].sent + first), bytes, abi::byte_type(), to, part_tag, line_,
                                     request);
    };
    if (const Result result = begin_pieces(parts[to].sent_bytes, send); result != Result::ok) return result;
  }
  return end_sends(Ends::always);
}

}  // namespace millrace::shim
