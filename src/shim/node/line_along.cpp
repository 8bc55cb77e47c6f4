// A broadcast of many pieces, straight from and into the program's memory: each member passes on to the next what has
// come, while more comes, so that each node's wire carries the data once each way. (The chain of Pjesivac-Grbovic et
// al., Cluster Computing 10, 2007.)
//
// A letter has a label, by which ranks in different calls are found out; these pieces have none. So all members meet
// before the first, and from then on each goes through all pieces whatever its own steps come to, for the host of
// another one may be reading or writing memory of the program. A letter behind the last says whether they were good.
// Of two members one only sends and the other only receives: a letter before the first piece says as much, without
// which no piece is asked for, and nobody waits for the other's way back.
#include <algorithm>
#include <array>
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
// Pieces, from and to one member. Who passes them on has no more: a host sends a bit of each in turn, and none arrives
// early. Of two, each that is asked for while others come saves two ways (100 us of delay, 1 MiB in four, Open MPI 4:
// 1.0 ms, two at a time 1.4, one at a time 2.1; without delay 0.25, 0.25 and 0.29).
constexpr std::size_t most_passed_on = 2;
// What was begun and is not asked for, since the other has refused: so long the host may still be reading of it what
// it sends unasked.
constexpr std::uint64_t most_unasked_ns = 10'000'000;

Result as_result(Word error) { return error == 0 ? Result::ok : Result::rank_failed; }

}  // namespace

// The pieces as one member sees them.
class LineTrips::Along {
 public:
  Along(LineTrips& trips, char* data, std::size_t bytes, std::size_t piece_bytes, std::uint32_t root)
      : trips_(trips),
        data_(data),
        bytes_(bytes),
        piece_bytes_(piece_bytes),
        before_((trips.node_ + trips.nodes_ - 1) % trips.nodes_),
        next_((trips.node_ + 1) % trips.nodes_),
        under_way_(trips.nodes_ == 2 ? LineTrips::most_pieces_under_way : most_passed_on),
        receives_(trips.node_ != root),
        sends_(next_ != root) {}

  std::size_t count() const { return (bytes_ + piece_bytes_ - 1) / piece_bytes_; }
  std::size_t first(std::size_t index) const { return index * piece_bytes_; }
  std::size_t length(std::size_t index) const { return std::min(piece_bytes_, bytes_ - first(index)); }

  Result begin() {
    if (const Result same = begin_alike(); same != Result::ok) return same;
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
    if (!sends_) return Result::ok;
    if (const Result result = sent(index); result != Result::ok) return result;
    return as_result(host<Symbol::MPI_Isend>(at(index), static_cast<Word>(length(index)), abi::byte_type(), next_,
                                             piece_tag, trips_.line_, as_word(&leaving(index))));
  }
  // Nobody reads or writes the program's memory any more. `good`: what this member has passed on.
  Result end(bool good) {
    {
      announce_traffic();
      const InsideHost inside;
      for (std::size_t index = count(); sends_ && index < count() + under_way_; ++index)
        if (const Result result = sent(index); result != Result::ok) return result;
    }
    trips_.next(0);
    const Result heard = receives_ ? trips_.receive(before_, trips_.slots_) : Result::ok;
    if (heard == Result::rank_failed || !sends_) return heard;
    const Result told = trips_.tell(next_, good && heard == Result::ok);
    return heard == Result::ok ? told : heard;
  }

 private:
  Word at(std::size_t index) const { return as_word(data_ + first(index)); }
  Word& coming(std::size_t index) { return coming_[index % under_way_]; }
  Word& leaving(std::size_t index) { return leaving_[index % under_way_]; }

  Result ask_for(std::size_t index) {
    if (!receives_ || index >= count()) return Result::ok;
    return as_result(host<Symbol::MPI_Irecv>(at(index), static_cast<Word>(length(index)), abi::byte_type(), before_,
                                             piece_tag, trips_.line_, as_word(&coming(index))));
  }
  // The one before in this one's place is.
  Result sent(std::size_t index) {
    if (index < under_way_ || index - under_way_ >= count()) return Result::ok;
    if (trips_.nodes_ != 2) return trips_.end(leaving(index), Ends::always);
    const Result result = trips_.end(leaving(index), Ends::unless_refused);
    if (result == Result::mismatch) leave_unasked();
    return result;
  }

  // All members are in this call.
  Result begin_alike() {
    if (trips_.nodes_ != 2) return trips_.meet();
    trips_.next(0);
    return receives_ ? trips_.receive(before_, trips_.slots_) : trips_.tell(next_, true);
  }

  // The other member takes none of them any more.
  void leave_unasked() {
    for (const std::uint64_t begin_ns = monotonic_ns(); monotonic_ns() - begin_ns < most_unasked_ns;)
      for (Word& request : leaving_) {
        int done = 0;
        if (request == 0) continue;
        host<Symbol::MPI_Test>(as_word(&request), as_word(&done), abi::status_ignore);
      }
  }

  LineTrips& trips_;
  char* const data_;
  const std::size_t bytes_, piece_bytes_;
  const std::uint32_t before_, next_;
  const std::size_t under_way_;
  const bool receives_, sends_;
  std::array<Word, LineTrips::most_pieces_under_way> coming_{}, leaving_{};
};

Result LineTrips::tell(std::uint32_t to, bool good) {
  const Head head{label_, good ? 0u : 1u};
  std::memcpy(letter_, &head, sizeof head);
  return send(to, sizeof head);
}

Result LineTrips::along(char* data, std::size_t bytes, std::size_t piece_bytes, std::uint32_t root,
                        const collective::PieceSteps& steps) {
  Along pieces(*this, data, bytes, piece_bytes, root);
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
