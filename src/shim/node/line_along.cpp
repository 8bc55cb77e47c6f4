// A broadcast of many pieces, straight from and into the program's memory: each member passes on to the next what has
// come, while more comes, so that each node's wire carries the data once each way. (The chain of Pjesivac-Grbovic et
// al., Cluster Computing 10, 2007.)
//
//   from each to the next:  | letter | piece | piece | ... | letter |
//
// The first letter has a label, by which ranks in different calls are found out, and how long the root's pieces are;
// who has not read it asks for no piece. These have no label, so from then on each member takes all pieces, whatever
// its own steps come to, and gives them on, unless the next one has refused: for the host of another one may be reading
// or writing memory of the program. The letter behind the last says whether they were good.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "abi.h"
#include "base/clock.h"
#include "shim/bind/attention.h"
#include "shim/bind/forward.h"
#include "shim/node/line_trips.h"

namespace millrace::shim {
namespace {

using collective::Result;

constexpr Word piece_tag = 3;
// Pieces under way, from and to one member. Of those that the host sends at once as many as are sent anyway. Others are
// asked for, which takes two ways: of two members four at a time. Who passes them on has two: a host sends a bit of
// each in turn, and none arrives early.
constexpr std::size_t most_at_once = 32, most_of_two = 4, most_passed_on = 2;
// What was begun and is not asked for, since the next one has refused: so long the host may still be reading of it what
// it sends unasked.
constexpr std::uint64_t most_unasked_ns = 10'000'000;

Result as_result(Word error) { return error == 0 ? Result::ok : Result::rank_failed; }

std::size_t rounds(std::size_t bytes, std::size_t piece_bytes) { return (bytes + piece_bytes - 1) / piece_bytes; }

}  // namespace

// The pieces as one member sees them. None lies in two blocks.
class LineTrips::Along {
 public:
  Along(LineTrips& trips, const Whole& whole, std::size_t piece_bytes, std::uint32_t root)
      : trips_(trips),
        whole_(whole),
        piece_bytes_(piece_bytes),
        before_((trips.node_ + trips.nodes_ - 1) % trips.nodes_),
        next_((trips.node_ + 1) % trips.nodes_),
        receives_(trips.node_ != root),
        sends_(next_ != root) {}

  std::size_t count() const {
    return whole_.bytes / whole_.block_bytes * a_block() + rounds(whole_.bytes % whole_.block_bytes, piece_bytes_);
  }
  std::size_t first(std::size_t index) const {
    return index / a_block() * whole_.block_bytes + index % a_block() * piece_bytes_;
  }
  std::size_t length(std::size_t index) const {
    const std::size_t from = first(index), block_end = (from / whole_.block_bytes + 1) * whole_.block_bytes;
    return std::min(piece_bytes_, std::min(whole_.bytes, block_end) - from);
  }

  // All before this one and the next are in this call.
  Result begin() {
    trips_.next(0);
    if (receives_) {
      if (const Result same = trips_.receive(before_, trips_.slots_); same != Result::ok) return same;
      piece_bytes_ = trips_.piece_bytes_of(trips_.slots_);
      if (piece_bytes_ == 0 || piece_bytes_ > whole_.block_bytes) return Result::mismatch;
    }
    are_at_once_ = piece_bytes_ <= trips_.at_once_bytes_;
    under_way_ = are_at_once_ ? most_at_once : trips_.nodes_ == 2 ? most_of_two : most_passed_on;
    if (sends_)
      if (const Result told = trips_.tell(next_, true, piece_bytes_); told != Result::ok) return told;
    announce_traffic();
    const InsideHost inside;
    for (std::size_t index = 0; index < std::min(count(), under_way_); ++index)
      if (const Result result = ask_for(index); result != Result::ok) return result;
    return Result::ok;
  }
  // Waits for it, and passes it on.
  Result pass(std::size_t index) {
    announce_traffic();
    const InsideHost inside;
    if (receives_) {
      if (const Result result = trips_.end(coming(index), Ends::always); result != Result::ok) return result;
      if (const Result result = ask_for(index + under_way_); result != Result::ok) return result;
    }
    if (const Result result = sent(index); result != Result::ok) return result;
    return sends_ ? send(index) : Result::ok;
  }
  // Nobody reads or writes the program's memory any more. `good`: what this member has passed on.
  Result end(bool good) {
    trips_.next(0);
    Result result = receives_ ? trips_.receive(before_, trips_.slots_) : Result::ok;
    if (result == Result::rank_failed) return result;
    if (sends_)
      if (const Result told = trips_.tell(next_, good && result == Result::ok, 0); told != Result::ok) result = told;
    if (result == Result::rank_failed) return result;
    announce_traffic();
    const InsideHost inside;
    for (std::size_t index = count(); index < count() + under_way_; ++index)
      if (const Result all_sent = sent(index); all_sent != Result::ok) return all_sent;
    return has_refused_ ? Result::mismatch : result;
  }

 private:
  std::size_t a_block() const { return rounds(whole_.block_bytes, piece_bytes_); }
  Word at(std::size_t index) const { return as_word(whole_.data + first(index)); }
  Word& coming(std::size_t index) { return coming_[index % under_way_]; }
  Word& leaving(std::size_t index) { return leaving_[index % under_way_]; }

  Result ask_for(std::size_t index) {
    if (!receives_ || index >= count()) return Result::ok;
    return as_result(host<Symbol::MPI_Irecv>(at(index), static_cast<Word>(length(index)), abi::byte_type(), before_,
                                             piece_tag, trips_.line_, as_word(&coming(index))));
  }
  // Of what a host sends at once the last of each block is not gone before it is asked for: nobody need keep more than
  // two blocks that have come too early.
  Result send(std::size_t index) {
    const bool is_last = index + 1 == count() || (index + 1) % a_block() == 0;
    const Word from = at(index), bytes = static_cast<Word>(length(index)), type = abi::byte_type();
    Word* const request = &leaving(index);
    return as_result(
        are_at_once_ && is_last
            ? host<Symbol::MPI_Issend>(from, bytes, type, next_, piece_tag, trips_.line_, as_word(request))
            : host<Symbol::MPI_Isend>(from, bytes, type, next_, piece_tag, trips_.line_, as_word(request)));
  }
  // The one before in this one's place is; or the next one has refused, and gets none any more.
  Result sent(std::size_t index) {
    if (!sends_ || index < under_way_ || index - under_way_ >= count()) return Result::ok;
    const Result result = trips_.end(leaving(index), Ends::unless_refused, next_);
    if (result != Result::mismatch) return result;
    has_refused_ = true;
    sends_ = false;
    leave_unasked();
    return Result::ok;
  }
  void leave_unasked() {
    for (const std::uint64_t begin_ns = monotonic_ns(); monotonic_ns() - begin_ns < most_unasked_ns;)
      for (Word& request : leaving_) {
        int done = 0;
        if (request == 0) continue;
        host<Symbol::MPI_Test>(as_word(&request), as_word(&done), abi::status_ignore);
      }
  }

  LineTrips& trips_;
  const Whole whole_;
  std::size_t piece_bytes_;
  const std::uint32_t before_, next_;
  const bool receives_;
  bool sends_, are_at_once_ = false, has_refused_ = false;
  std::size_t under_way_ = most_passed_on;
  std::array<Word, most_at_once> coming_{}, leaving_{};
};

Result LineTrips::tell(std::uint32_t to, bool good, std::size_t piece_bytes) {
  put_head(letter_, good ? head_bytes : 0, piece_bytes);
  announce_traffic();
  const InsideHost inside;
  const Result begun = begin_send(letter_, head_bytes, to, Asked::no);
  // Whoever else has refused: who is told this waits for the pieces behind it.
  return begun == Result::ok ? end_sends(Ends::unless_refused, to) : begun;
}

std::size_t LineTrips::piece_bytes_of(const char* letter) {
  Head head;
  std::memcpy(&head, letter, sizeof head);
  return head.piece_bytes;
}

bool LineTrips::takes_along(std::size_t bytes, std::size_t piece_bytes) const {
  if (at_once_bytes_ != 0 && nodes_ <= few_nodes) return bytes > at_once_bytes_;
  return nodes_ == 2 ? !takes_down(bytes) : bytes / piece_bytes >= nodes_;
}

Result LineTrips::along(const Whole& whole, std::size_t piece_bytes, std::uint32_t root,
                        const collective::PieceSteps& steps) {
  // Those that are sent at once are alike, and others of two members all under way, as far as that goes.
  const std::size_t cut_bytes = std::min(whole.bytes, whole.block_bytes);
  const std::size_t most_bytes = at_once_bytes_ & ~(alignment - 1);
  if (most_bytes != 0)
    piece_bytes = rounds(rounds(cut_bytes, rounds(cut_bytes, most_bytes)), alignment) * alignment;
  else if (nodes_ == 2)
    piece_bytes = std::clamp(std::bit_floor(whole.bytes / most_of_two), piece_bytes, 2 * piece_bytes);
  Along pieces(*this, whole, piece_bytes, root);
  if (const Result result = pieces.begin(); result != Result::ok) return result;
  Result stepped = Result::ok;
  bool good = true;
  for (std::size_t index = 0; index < pieces.count(); ++index) {
    const std::size_t first = pieces.first(index), length = pieces.length(index);
    if (stepped == Result::ok) {
      stepped = steps.before(first, length);
      good = stepped == Result::ok;
    }
    if (const Result result = pieces.pass(index); result != Result::ok) return result;
    if (stepped == Result::ok) stepped = steps.after(first, length);
  }
  const Result ended = pieces.end(good);
  return stepped == Result::ok ? ended : stepped;
}

}  // namespace millrace::shim
