#include "collective/exchange_run.h"

#include <algorithm>
#include <utility>

#include "collective/data.h"
#include "shared_memory/read_once.h"

namespace millrace::collective {
namespace {

using shared_memory::read_once;

constexpr std::uint32_t most_units_of_piece = 8;
// Twice as many of long messages of two ranks, for which it was measured: each piece takes a letter each way.
constexpr std::size_t long_from_bytes = 256 << 10;
constexpr std::uint32_t most_pieces_at_once = 2;
constexpr std::uint64_t rounds_between_looks = 64;
// Of a row in another rank's memory, before others get their turn.
constexpr std::size_t most_bytes_read_at_once = 1 << 20;
// After a row that a peer could not read, before it is offered another: a process that may not be read stays so.
constexpr std::uint64_t calls_without_rows = 64;

// Puts the first message of a chain behind its last.
void put_last(std::uint32_t& head, std::uint32_t* next) {
  const std::uint32_t moved = head;
  if (next[moved] == Mail::none) return;
  head = next[moved];
  next[moved] = Mail::none;
  std::uint32_t last = head;
  while (next[last] != Mail::none) last = next[last];
  next[last] = moved;
}

}  // namespace

std::uint32_t ExchangeRun::least_row() const {
  const Selection& selection = group_.selection();
  return group_.crowded() ? selection.exchange_single_copy_crowded_bytes : selection.exchange_single_copy_bytes;
}

// Of the messages to and from others.
std::size_t ExchangeRun::largest() const {
  std::size_t largest_bytes = 0;
  for (const std::span<const Message> messages : {sends_, receives_})
    for (const Message& message : messages)
      if (message.peer != group_.rank()) largest_bytes = std::max(largest_bytes, message.data.bytes);
  return largest_bytes;
}

// Chains the messages of each peer, in the order in which they are listed. Peers are served in the order rank + 1, ...
// and come in the order rank - 1, ..., so that not all turn to the same one at once.
bool ExchangeRun::list_messages() {
  if (!mail_.make_room(sends_.size(), receives_.size())) {
    result_ = group_.fail(Result::rank_failed);
    return false;
  }
  const std::uint32_t ranks = group_.ranks(), self = group_.rank();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Mail::Peer& peer = mail_.peer(rank);
    peer.next_send = peer.next_receive = Mail::none;
    peer.send_first = peer.receive_first = 0;
    peer.must_be_taken = 0;
  }
  const auto chain = [&](std::span<const Message> messages, std::uint32_t Mail::Peer::*first, std::uint32_t* next) {
    for (std::size_t index = messages.size(); index-- != 0;) {
      if (messages[index].peer >= ranks) return false;
      std::uint32_t& head = mail_.peer(messages[index].peer).*first;
      next[index] = head;
      head = static_cast<std::uint32_t>(index);
    }
    return true;
  };
  if (!chain(sends_, &Mail::Peer::next_send, mail_.next_send()) ||
      !chain(receives_, &Mail::Peer::next_receive, mail_.next_receive())) {
    result_ = group_.fail(Result::mismatch);
    return false;
  }
  for (std::uint32_t step = 1; step < ranks; ++step) {
    const std::uint32_t target = self + step < ranks ? self + step : self + step - ranks;
    const std::uint32_t source = self >= step ? self - step : self + ranks - step;
    if (mail_.peer(target).next_send != Mail::none) mail_.targets()[target_count_++] = target;
    if (mail_.peer(source).next_receive != Mail::none) mail_.sources()[source_count_++] = source;
  }
  return true;
}

// What this rank sends to itself.
void ExchangeRun::copy_own() {
  Mail::Peer& own = mail_.peer(group_.rank());
  while (own.next_send != Mail::none && own.next_receive != Mail::none) {
    const Data& to = receives_[own.next_receive].data;
    const Data& from = sends_[own.next_send].data;
    truncated_ = truncated_ || from.bytes > to.bytes;
    move_all(from, to, std::min(from.bytes, to.bytes), group_.scratch(), group_.scratch_bytes());
    own.next_send = mail_.next_send()[own.next_send];
    own.next_receive = mail_.next_receive()[own.next_receive];
  }
  truncated_ = truncated_ || own.next_send != Mail::none;
}

void ExchangeRun::note_taken(std::uint32_t rank, std::uint64_t taken) {
  if (taken > mail_.peer(rank).sent) [[unlikely]] {
    result_ = group_.fail(Result::mismatch);  // more than there were: somebody has scribbled there
    return;
  }
  if (mail_.peer(rank).rows != 0) look_for_refused(rank, taken);
  mail_.note_taken(rank, taken);
}

// Rows that the peer could not read, among letters that it has now taken: as in refuse_row().
void ExchangeRun::look_for_refused(std::uint32_t rank, std::uint64_t taken) {
  Mail::Peer& peer = mail_.peer(rank);
  // After what said that they are taken. Partner: refuse_row().
  const std::uint64_t refused = group_.rows_refused(group_.rank(), rank).load(std::memory_order_relaxed);
  for (std::uint64_t number = peer.taken; number < taken; ++number) {
    const std::uint32_t index = mail_.forget_row(rank, number);
    if (index == Mail::none || (refused >> (number & (group_.shape().letters - 1)) & 1) == 0) continue;
    mail_.next_send()[index] = peer.next_send;
    peer.next_send = index;
    put_last(peer.next_send, mail_.next_send());
    peer.rows_again = call_.number + calls_without_rows;
  }
}

void ExchangeRun::look_for_taken(std::uint32_t rank) {
  const Mail::Peer& peer = mail_.peer(rank);
  if (peer.taken == peer.sent) return;
  // Partner: receive(). Sequentially consistent for ready().
  note_taken(rank, group_.letters_taken(group_.rank(), rank).load(std::memory_order_seq_cst));
}

bool ExchangeRun::room_for_letter(std::uint32_t rank) {
  const Mail::Peer& peer = mail_.peer(rank);
  // With several targets none gets the whole outbox: it may come late, and the others would wait for it.
  const std::uint32_t letters = group_.shape().letters, most = target_count_ > 1 ? (letters + 1) / 2 : letters;
  if (peer.sent - peer.taken < most) return true;
  look_for_taken(rank);
  return peer.sent - peer.taken < most;
}

// Only the sender need know: the letter says it. A root that gathers would do all the work alone, unless the others
// help; with two copies they do half.
bool ExchangeRun::goes_by_row(std::uint32_t rank, const Data& data) const {
  if (kind_ == Kind::gather && !group_.shares_rows(data.bytes)) return false;
  return data.row && copies_.are_one() && group_.reads_memory() && at_least(data.bytes, least_row()) &&
         mail_.peer(rank).send_first == 0 && call_.number >= mail_.peer(rank).rows_again;
}

bool ExchangeRun::fill_piece(std::uint32_t rank, const Data& data, Letter& letter) {
  const std::size_t unit = group_.shape().unit_bytes, first = mail_.peer(rank).send_first;
  const std::size_t phase = data.row ? line_phase(static_cast<const char*>(data.row) + first) : 0;
  const std::size_t length = std::min(data.bytes - first, units_of_piece_ * unit - phase);
  const auto count = static_cast<std::uint32_t>((phase + length + unit - 1) / unit);
  std::uint32_t start = mail_.take_units(count);
  if (start == Mail::none) {
    for (std::uint32_t other = 0; other < group_.ranks(); ++other) look_for_taken(other);
    start = mail_.take_units(count);
    if (start == Mail::none) return false;
  }
  mail_.lend_units(rank, start, count);
  leave(group_, data, first, length, group_.outbox(group_.rank()) + start * unit + phase);
  letter.kind = LetterKind::piece;
  letter.piece.first = first;
  letter.piece.length = static_cast<std::uint32_t>(length);
  letter.piece.unit = start;
  letter.piece.phase = static_cast<std::uint32_t>(phase);
  mail_.peer(rank).send_first = first + length;
  return true;
}

// The next letter of a message; false: there is no room for it.
bool ExchangeRun::send_letter(std::uint32_t rank, const Data& data) {
  if (!room_for_letter(rank)) return false;
  Mail::Peer& peer = mail_.peer(rank);
  Letter& letter = group_.letter(group_.rank(), rank, peer.sent);
  if (data.bytes <= letter_bytes) {
    letter.kind = LetterKind::whole;
    pack(data, 0, data.bytes, letter.data);
    peer.send_first = data.bytes;
  } else if (goes_by_row(rank, data)) {
    letter.kind = LetterKind::row;
    letter.address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(data.row));
    peer.send_first = data.bytes;
    peer.must_be_taken = peer.sent + 1;
    peer.writing.begin(row_serial_of_letter(peer.sent + 1), data.row, data.bytes);
    mail_.note_row(rank, peer.next_send);
  } else if (!fill_piece(rank, data, letter)) {
    return false;
  }
  letter.label = call_.label;
  letter.bytes = data.bytes;
  letter.taken = static_cast<std::uint32_t>(peer.received);
  group_.publish_to(rank, letter.sequence, ++peer.sent);  // partner: acquire in receive()
  return true;
}

// Sends what there is room for, but of large messages only a little, so that what comes is taken in between. Whether
// anything was done.
bool ExchangeRun::send(std::uint32_t rank) {
  Mail::Peer& peer = mail_.peer(rank);
  bool moved = false;
  std::uint32_t pieces = 0;
  while (peer.next_send != Mail::none) {
    const Data& data = sends_[peer.next_send].data;
    if (!send_letter(rank, data)) return moved;
    moved = true;
    if (peer.send_first < data.bytes) {
      if (++pieces == most_pieces_at_once) return true;
      continue;
    }
    peer.send_first = 0;
    peer.next_send = mail_.next_send()[peer.next_send];
  }
  if (peer.must_be_taken > peer.taken) {
    look_for_taken(rank);
    return peer.must_be_taken <= peer.taken || peer.writing.help(group_, rank) || moved;
  }
  return moved;
}

// Whether the sender of a row may help: where one end of all messages is the root, which else works or waits alone.
bool ExchangeRun::shares_row(const Data& data, std::size_t wanted) const {
  return (kind_ == Kind::gather || kind_ == Kind::scatter) && data.row && group_.shares_rows(wanted);
}

// Some bytes of a row, or none while its sender still writes.
Result ExchangeRun::take_row(std::uint32_t rank, std::uint64_t address, const Data& data, std::size_t wanted) {
  Mail::Peer& peer = mail_.peer(rank);
  if (peer.reading.is_open()) {
    if (const RowReading::Part part = peer.reading.take(group_, rank); part.length != 0) {
      const Result result = read_part(group_, rank, address, data, part.first, part.length);
      if (result != Result::ok) peer.reading.close(group_, rank);
      peer.receive_first = part.first + part.length;
      return result;
    }
    const RowReading::Rest rest = peer.reading.rest(group_, rank);
    if (rest == RowReading::Rest::under_way) return Result::ok;
    peer.reading.close(group_, rank);
    if (rest == RowReading::Rest::written) peer.receive_first = wanted;
    if (peer.receive_first == wanted) return Result::ok;
  } else if (peer.receive_first == 0) {
    if (shares_row(data, wanted)) {
      // The next peer first, so that all may begin.
      opened_ = true;
      peer.reading.open(group_, rank, row_serial_of_letter(peer.received + 1), data.row, wanted);
      return Result::ok;
    }
    // Where the sender could not know that it will not be asked to help.
    if (kind_ == Kind::gather) return Result::not_supported;
  }
  const std::size_t length = std::min(wanted - peer.receive_first, most_bytes_read_at_once);
  const Result result = read_part(group_, rank, address, data, peer.receive_first, length);
  peer.receive_first += length;
  return result;
}

// Copies out what the letter says, or as much of it as is done at once.
Result ExchangeRun::take_letter(std::uint32_t rank, const Letter& letter, LetterKind kind, std::size_t bytes) {
  Mail::Peer& peer = mail_.peer(rank);
  const Data& data = receives_[peer.next_receive].data;
  const std::size_t wanted = std::min(bytes, data.bytes);
  truncated_ = truncated_ || bytes > data.bytes;
  if (kind == LetterKind::whole) {
    if (bytes > letter_bytes) return Result::mismatch;
    unpack(data, 0, wanted, letter.data);
    peer.receive_first = bytes;
    return Result::ok;
  }
  if (kind == LetterKind::row) {
    if (peer.receive_first > wanted) return Result::mismatch;
    const Result result = take_row(rank, read_once(letter.address), data, wanted);
    if (peer.receive_first == wanted && !peer.reading.is_open()) peer.receive_first = bytes;
    return result;
  }
  const std::size_t first = read_once(letter.piece.first), length = read_once(letter.piece.length),
                    unit = read_once(letter.piece.unit), phase = read_once(letter.piece.phase),
                    unit_bytes = group_.shape().unit_bytes;
  if (first != peer.receive_first || first > bytes || length > bytes - first || length == 0 || unit >= outbox_units ||
      phase >= line_bytes || phase + length > (outbox_units - unit) * unit_bytes)
    return Result::mismatch;
  if (first < wanted)
    unpack(data, first, std::min(length, wanted - first), group_.outbox(rank) + unit * unit_bytes + phase);
  peer.receive_first = first + length;
  return Result::ok;
}

// A row that this rank may not read: its message goes behind all others from that rank, and is sent again in pieces.
void ExchangeRun::refuse_row(std::uint32_t rank) {
  Mail::Peer& peer = mail_.peer(rank);
  peer.refused |= std::uint64_t{1} << (peer.received & (group_.shape().letters - 1));
  // Released with the count of letters taken, or with the next letter to that rank. Partner: look_for_refused().
  group_.rows_refused(rank, group_.rank()).store(peer.refused, std::memory_order_relaxed);
  put_last(peer.next_receive, mail_.next_receive());
}

// The sender knows of the letter that was refused in this one's place, for it has used the place again.
void ExchangeRun::forget_refused(std::uint32_t rank) {
  Mail::Peer& peer = mail_.peer(rank);
  peer.refused &= ~(std::uint64_t{1} << (peer.received & (group_.shape().letters - 1)));
  group_.rows_refused(rank, group_.rank()).store(peer.refused, std::memory_order_relaxed);
}

// Takes the letters that are there. Whether there were any.
bool ExchangeRun::receive(std::uint32_t rank) {
  Mail::Peer& peer = mail_.peer(rank);
  bool moved = false;
  while (peer.next_receive != Mail::none) {
    const Letter& letter = group_.letter(rank, group_.rank(), peer.received);
    const std::uint64_t sequence = letter.sequence.load(std::memory_order_acquire);  // partner: send_letter()
    if (sequence <= peer.received) return moved;
    const bool moved_before = std::exchange(moved, true), was_open = peer.reading.is_open();
    const std::size_t first = peer.receive_first;
    const auto kind = read_once(letter.kind);
    const std::size_t bytes = read_once(letter.bytes);
    note_taken(rank, mail_.taken_from_half(rank, read_once(letter.taken)));
    if (sequence != peer.received + 1) [[unlikely]] {
      result_ = group_.fail(Result::mismatch);  // as in note_taken()
      return true;
    }
    if (peer.refused != 0) [[unlikely]]
      forget_refused(rank);
    if (const std::uint64_t label = read_once(letter.label); label != call_.label) [[unlikely]] {
      // Of an earlier call, where this rank expected nothing from that one: hosts leave such messages lying.
      if (peer.receive_first != 0 || !group_.called_before(call_, label)) {
        result_ = group_.fail(Result::mismatch);
        return true;
      }
      group_.publish_to(rank, group_.letters_taken(rank, group_.rank()), ++peer.received);
      continue;
    }
    const Result result = take_letter(rank, letter, kind, bytes);
    bool complete = peer.receive_first == bytes;
    if (result != Result::ok) [[unlikely]] {
      if (result != Result::not_supported) {
        result_ = group_.fail(result);
        return true;
      }
      refuse_row(rank);
      peer.receive_first = 0;
      complete = false;
    } else if (kind == LetterKind::row && !complete) {
      return moved_before || peer.receive_first != first || peer.reading.is_open() != was_open;
    }
    group_.publish_to(rank, group_.letters_taken(rank, group_.rank()), ++peer.received);
    if (!complete) continue;
    peer.receive_first = 0;
    peer.next_receive = mail_.next_receive()[peer.next_receive];
  }
  return moved;
}

// One turn over all peers with whom something is left to do. Whether anything was done.
bool ExchangeRun::advance() {
  bool moved = false;
  std::uint32_t left = 0;
  for (std::uint32_t index = 0; index < target_count_; ++index) {
    const std::uint32_t rank = mail_.targets()[index];
    moved = send(rank) || moved;
    const Mail::Peer& peer = mail_.peer(rank);
    if (peer.next_send != Mail::none || peer.must_be_taken > peer.taken) mail_.targets()[left++] = rank;
  }
  target_count_ = left;
  left = 0;
  for (std::uint32_t index = 0; index < source_count_ && result_ == Result::ok; ++index) {
    const std::uint32_t rank = mail_.sources()[index];
    moved = receive(rank) || moved;
    if (mail_.peer(rank).next_receive != Mail::none) mail_.sources()[left++] = rank;
  }
  source_count_ = left;
  return moved;
}

// Whether advance() would do something, for a rank about to sleep or to give its core away: sequentially consistent
// loads, as Group::sleep_until_rung() needs. What is of no use now is true once at most, or it would neither sleep nor
// let those move on who could be of use.
bool ExchangeRun::ready() {
  for (std::uint32_t index = 0; index < source_count_; ++index) {
    const std::uint32_t rank = mail_.sources()[index];
    const Mail::Peer& peer = mail_.peer(rank);
    if (group_.letter(rank, group_.rank(), peer.received).sequence.load(std::memory_order_seq_cst) <= peer.received)
      continue;
    // A row of which the rest is the sender's to write.
    if (!peer.reading.is_open() || peer.reading.rest(group_, rank) != RowReading::Rest::under_way) return true;
  }
  if (target_count_ == 0) return false;
  // Any letter taken may free what is lacking, or may not: it is noted.
  bool is_freed = false;
  for (std::uint32_t rank = 0; rank < group_.ranks(); ++rank) {
    const Mail::Peer& peer = mail_.peer(rank);
    if (peer.taken == peer.sent) continue;
    const std::uint64_t taken_before = peer.taken;
    look_for_taken(rank);
    is_freed = is_freed || peer.taken != taken_before;
  }
  return is_freed || result_ != Result::ok;
}

// A peer that has finished this call, and has neither sent what is listed here nor taken what was sent, never will.
bool ExchangeRun::somebody_has_gone_on() {
  const auto finished = [&](std::uint32_t rank) {
    return group_.member(rank).calls_done.value.load(std::memory_order_acquire) > call_.number;  // partner: finish()
  };
  for (std::uint32_t index = 0; index < source_count_; ++index) {
    const std::uint32_t rank = mail_.sources()[index];
    const std::uint64_t received = mail_.peer(rank).received;
    if (finished(rank) &&
        group_.letter(rank, group_.rank(), received).sequence.load(std::memory_order_acquire) <= received)
      return true;
  }
  for (std::uint32_t index = 0; index < target_count_; ++index) {
    const std::uint32_t rank = mail_.targets()[index];
    if (finished(rank) &&
        group_.letters_taken(group_.rank(), rank).load(std::memory_order_acquire) < mail_.peer(rank).sent)
      return true;
  }
  return false;
}

Result ExchangeRun::run() {
  if (!list_messages()) return result_;
  units_of_piece_ = most_units_of_piece * (group_.ranks() == 2 && largest() >= long_from_bytes ? 2 : 1);
  advance();
  if (result_ == Result::ok) copy_own();
  Group::Patience patience;
  const Group::Awaited awaited{nullptr, 0, [](void* self) { return static_cast<ExchangeRun*>(self)->ready(); }, this};
  std::uint32_t polls = group_.pauses();
  while (result_ == Result::ok && target_count_ + source_count_ != 0) {
    if (advance()) {
      patience = {};
      polls = group_.pauses();
    } else if (polls != 0) {
      --polls;
      shared_memory::cpu_pause();
    } else {
      const Result idled = group_.idle(patience, awaited);
      if (result_ == Result::ok) result_ = idled;  // ready() may have found what breaks the group
      if (result_ == Result::ok && patience.round % rounds_between_looks == 0 && somebody_has_gone_on())
        result_ = group_.fail(Result::mismatch);
      polls = group_.polls_between();
    }
  }
  // All are closed but where something broke, or was scribbled upon.
  for (std::uint32_t rank = 0; opened_ && rank < group_.ranks(); ++rank) mail_.peer(rank).reading.close(group_, rank);
  if (result_ != Result::ok) return result_;
  copies_.end();
  group_.finish(call_);
  return truncated_ ? Result::truncated : Result::ok;
}

}  // namespace millrace::collective
