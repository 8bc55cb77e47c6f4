#include "shim/node/line_trips.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "abi.h"
#include "base/clock.h"
#include "shared_memory/own_core.h"
#include "shim/bind/attention.h"
#include "shim/bind/forward.h"

namespace millrace::shim {
namespace {

using collective::Result;

constexpr Word letter_tag = 1, refusal_tag = 2, rest_tag = 5;
constexpr int looks_to_clock = 4;

// As the host's own collectives between two do, which is a piece of a broadcast (collective/across/across.h), and up to
// where more of them go other ways. Of few, what hosts send over TCP at once (Open MPI up to 64 KiB): sending each its
// part takes fewer bytes than what the host does after a round of labels (decisions 174 and 177).
constexpr std::size_t most_bytes_of_two = std::size_t{256} << 10;
constexpr std::size_t most_bytes_of_few = std::size_t{32} << 10;
constexpr std::size_t most_bytes_of_more = std::size_t{16} << 10;

Result as_result(Word error) { return error == 0 ? Result::ok : Result::rank_failed; }

Word word(std::size_t number) { return static_cast<Word>(number); }

}  // namespace

LineTrips::~LineTrips() {
  if (has_refused_) static_cast<void>(memory_.release());  // the host may still have some of it
}

void LineTrips::open(Word line, std::uint32_t node, std::uint32_t nodes, std::size_t at_once_bytes) {
  at_once_bytes_ = at_once_bytes;
  line_ = line;
  node_ = node;
  nodes_ = nodes;
  most_bytes_ = nodes == 2 ? most_bytes_of_two : nodes <= few_nodes ? most_bytes_of_few : most_bytes_of_more;
  most_bytes_down_ = nodes <= few_nodes ? most_bytes_of_two : most_bytes_of_more;
  most_message_bytes_ = std::max(letter_bytes(most_bytes_down_), most_circling_bytes);
  // What is received goes behind others, of which there are at most so many, and may be as long as any message.
  const std::size_t before =
      std::max(std::size_t{std::min(nodes, most_one_by_one)} * letter_bytes(most_bytes_), most_circling_bytes);
  const std::size_t slots = before + most_message_bytes_;
  memory_.reset(new char[slots + most_message_bytes_ + most_bytes_ + 64]);
  slots_ = memory_.get();
  slots_ += 64 - reinterpret_cast<std::uintptr_t>(slots_) % 64;
  letter_ = slots_ + slots;
  scratch_ = letter_ + most_message_bytes_;
}

void LineTrips::refuse() {
  if (has_refused_ || line_ == 0) return;
  has_refused_ = true;
  announce_traffic();
  for (std::uint32_t to = 0; to < nodes_; ++to) {
    Word request = 0;
    if (to == node_ || host<Symbol::MPI_Isend>(as_word(&refusal_), sizeof refusal_, abi::byte_type(), to, refusal_tag,
                                               line_, as_word(&request)) != 0)
      continue;
    host<Symbol::MPI_Request_free>(as_word(&request));
  }
}

Result LineTrips::opened(const char* letter) {
  Head head;
  std::memcpy(&head, letter, sizeof head);
  return head.label == label_ && head.bytes != 0 ? Result::ok : Result::mismatch;
}

std::size_t LineTrips::write(const Part& part) {
  const std::size_t bytes = head_bytes + part.bytes;
  put_head(letter_, bytes, 0);
  if (part.bytes != 0) std::memcpy(letter_ + head_bytes, part.data, part.bytes);
  return bytes;
}

void LineTrips::put_head(char* letter, std::size_t bytes, std::size_t piece_bytes) const {
  const Head head{label_, static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(piece_bytes)};
  std::memcpy(letter, &head, sizeof head);
}

Result LineTrips::begin_receive(std::uint32_t from, char* letter, Word& request) {
  return as_result(host<Symbol::MPI_Irecv>(as_word(letter), word(most_message_bytes_), abi::byte_type(), from,
                                           abi::any_tag, line_, as_word(&request)));
}

// What a host sends at once goes in such pieces, all under way: they come without having been asked for. As many on
// both sides, for both know how long it is. Where letters go around, several are in a message, which is short.
std::size_t LineTrips::pieces_of(std::size_t bytes) const {
  if (at_once_bytes_ == 0 || nodes_ > most_one_by_one) return 1;
  const std::size_t pieces = (bytes + at_once_bytes_ - 1) / at_once_bytes_;
  return pieces <= most_pieces ? pieces : 1;
}

// A letter that the host would have asked for as a whole is asked for by its last piece, if nothing else keeps its
// sender from sending the next one: so nobody need keep more than a letter that has come too early.
Result LineTrips::begin_send(const char* letter, std::size_t bytes, std::uint32_t to, Asked asked) {
  const std::size_t pieces = pieces_of(bytes);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::size_t first = piece_begin(bytes, piece, pieces), end = piece_begin(bytes, piece + 1, pieces);
    const Word from = as_word(letter + first), length = word(end - first), type = abi::byte_type();
    const Word tag = piece == 0 ? letter_tag : rest_tag, request = as_word(&next_under_way());
    const bool is_asked = asked == Asked::by_the_last && pieces > 1 && piece + 1 == pieces;
    const Word error = is_asked ? host<Symbol::MPI_Issend>(from, length, type, to, tag, line_, request)
                                : host<Symbol::MPI_Isend>(from, length, type, to, tag, line_, request);
    if (error != 0) return Result::rank_failed;
  }
  return Result::ok;
}

// Of a letter whose first piece has come, and is of this call.
Result LineTrips::receive_rest(std::uint32_t from, char* letter) {
  Head head;
  std::memcpy(&head, letter, sizeof head);
  if (head.bytes > most_message_bytes_) return Result::mismatch;
  const std::size_t pieces = pieces_of(head.bytes);
  std::array<Word, most_letter_pieces> requests{};
  if (pieces > requests.size()) return Result::mismatch;
  for (std::size_t piece = 1; piece < pieces; ++piece) {
    const std::size_t first = piece_begin(head.bytes, piece, pieces), end = piece_begin(head.bytes, piece + 1, pieces);
    if (host<Symbol::MPI_Irecv>(as_word(letter + first), word(end - first), abi::byte_type(), from, rest_tag, line_,
                                as_word(&requests[piece])) != 0)
      return Result::rank_failed;
  }
  for (std::size_t piece = 1; piece < pieces; ++piece)
    if (const Result result = end(requests[piece], Ends::always); result != Result::ok) return result;
  return Result::ok;
}

// As the ranks of a node wait for each other (collective/wait.cpp): the host, which has a core for each rank as far as
// it knows, would keep the core from those of another node that need it.
Result LineTrips::end(Word& request, Ends ends, std::uint32_t by) {
  const Word refuser = by < nodes_ ? by : static_cast<Word>(abi::any_source);
  std::uint64_t begin_ns = 0;
  for (int looks = 0;; ++looks) {
    int done = 0;
    if (host<Symbol::MPI_Test>(as_word(&request), as_word(&done), abi::status_ignore) != 0) return Result::rank_failed;
    if (done != 0) return Result::ok;
    if (ends == Ends::unless_refused) {
      int is_there = 0;
      if (host<Symbol::MPI_Iprobe>(refuser, refusal_tag, line_, as_word(&is_there), abi::status_ignore) != 0)
        return Result::rank_failed;
      if (is_there != 0) {
        // What was before the refusal may have come with it: to have been asked for, by who has gone on since.
        if (host<Symbol::MPI_Test>(as_word(&request), as_word(&done), abi::status_ignore) != 0)
          return Result::rank_failed;
        return done != 0 ? Result::ok : Result::mismatch;
      }
    }
    if (looks % looks_to_clock != 0) continue;
    const std::uint64_t time_ns = monotonic_ns();
    if (begin_ns == 0) begin_ns = time_ns;
    shared_memory::OwnCore& core = shared_memory::own_core();
    if (core.is_wanted() || time_ns - begin_ns >= shared_memory::keeps_core_ns) {
      core.give_away(time_ns);
      looks = 0;  // of the next ones, which are this one's: who shares the core has just had it
    }
  }
}

// A long letter is not gone before it is asked for, which somebody who has refused does not.
Result LineTrips::end_sends(Ends ends, std::uint32_t by) {
  const std::size_t begun = std::exchange(begun_, 0);
  for (std::size_t index = 0; index < begun; ++index)
    if (const Result result = end(under_way_[index], ends, by); result != Result::ok) return result;
  return Result::ok;
}

Result LineTrips::send(std::uint32_t to, std::size_t bytes) {
  announce_traffic();
  const InsideHost inside;
  const Result begun = begin_send(letter_, bytes, to, Asked::by_the_last);
  return begun == Result::ok ? end_sends(Ends::unless_refused) : begun;
}

Result LineTrips::end_receive(Word& request, std::uint32_t from, char* letter) {
  Result result = end(request, Ends::always);
  if (result == Result::ok) result = opened(letter);
  return result == Result::ok ? receive_rest(from, letter) : result;
}

Result LineTrips::receive(std::uint32_t from, char* letter) {
  announce_traffic();
  const InsideHost inside;
  Word request = 0;
  const Result begun = begin_receive(from, letter, request);
  return begun == Result::ok ? end_receive(request, from, letter) : begun;
}

Result LineTrips::send_and_receive(const char* sent, std::size_t bytes, std::uint32_t to, char* received,
                                   std::uint32_t from) {
  announce_traffic();
  const InsideHost inside;
  Word request = 0;
  if (const Result begun = begin_receive(from, received, request); begun != Result::ok) return begun;
  if (const Result begun = begin_send(sent, bytes, to, Asked::no); begun != Result::ok) return begun;
  const Result result = end_receive(request, from, received);
  return result == Result::ok ? end_sends(Ends::unless_refused) : result;
}

Result LineTrips::all_to_all(std::size_t bytes) {
  next(bytes);
  put_head(slots_, slot_bytes_, 0);
  if (nodes_ <= few_nodes) return all_at_once();
  // Each time whoever is twice as far away sends what it has by then: the letters of itself and those behind it.
  for (std::uint32_t have = 1; have < nodes_; have *= 2) {
    const std::size_t sent = std::min(have, nodes_ - have) * slot_bytes_;
    const std::uint32_t to = (node_ + nodes_ - have) % nodes_, from = (node_ + have) % nodes_;
    // Who sent it has looked at the letters behind the first.
    const Result result = send_and_receive(slots_, sent, to, slot(have), from);
    if (result != Result::ok) return result;
  }
  return Result::ok;
}

// Of three it is as many messages as below, and of four three in place of two; but nobody waits for who waits itself.
Result LineTrips::all_at_once() {
  announce_traffic();
  const InsideHost inside;
  std::array<Word, few_nodes> received{};
  for (std::uint32_t distance = 1; distance < nodes_; ++distance) {
    const std::uint32_t from = (node_ + distance) % nodes_;
    if (const Result begun = begin_receive(from, slot(distance), received[distance]); begun != Result::ok) return begun;
  }
  for (std::uint32_t distance = 1; distance < nodes_; ++distance) {
    const std::uint32_t to = (node_ + nodes_ - distance) % nodes_;
    if (const Result begun = begin_send(slots_, slot_bytes_, to, Asked::no); begun != Result::ok) return begun;
  }
  for (std::uint32_t distance = 1; distance < nodes_; ++distance) {
    const std::uint32_t from = (node_ + distance) % nodes_;
    const Result result = end_receive(received[distance], from, slot(distance));
    if (result != Result::ok) return result;
  }
  return end_sends(Ends::unless_refused);
}

Result LineTrips::down(void* data, std::size_t bytes, std::uint32_t root) {
  next(bytes);
  const std::uint32_t place = (node_ + nodes_ - root) % nodes_;
  std::uint32_t span = 1;
  while (span < nodes_ && (place & span) == 0) span *= 2;
  if (place == 0) {
    write({static_cast<const char*>(data), bytes});
  } else {
    const Result result = receive((node_ + nodes_ - span) % nodes_, letter_);
    if (result != Result::ok) return result;
  }
  for (span /= 2; span != 0; span /= 2)
    if (place + span < nodes_)
      if (const Result result = send((node_ + span) % nodes_, head_bytes + bytes); result != Result::ok) return result;
  if (place != 0) std::memcpy(data, letter_ + head_bytes, bytes);
  return Result::ok;
}

Result LineTrips::swap_with(std::uint32_t distance, const Part& part) {
  const std::uint32_t to = (node_ + distance) % nodes_, from = (node_ + nodes_ - distance) % nodes_;
  return send_and_receive(letter_, write(part), to, slot(slot_of(from)), from);
}

Result LineTrips::up(const void* data, std::size_t bytes, std::uint32_t root) {
  next(bytes);
  if (node_ != root) return send(root, write({static_cast<const char*>(data), bytes}));
  for (std::uint32_t from = 0; from < nodes_; ++from)
    if (from != root)
      if (const Result result = receive(from, slot(slot_of(from))); result != Result::ok) return result;
  return Result::ok;
}

Result LineTrips::receive_own(char* own, std::size_t bytes, std::uint32_t from) {
  if (const Result result = receive(from, letter_); result != Result::ok) return result;
  std::memcpy(own, letter_ + head_bytes, bytes);
  return Result::ok;
}

}  // namespace millrace::shim
