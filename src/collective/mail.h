// What a rank knows of its mailboxes, and keeps from one exchange to the next. For every ordered pair of ranks there is
// a ring of letters which only the sender writes, and a count of those taken which only the receiver writes:
//
//   sender                                       receiver
//   letter free? (taken > number - letters)
//   fill units of the outbox, the letter
//   letter.sequence = number + 1      ------>    waits for it, checks the label
//                                                copies out of letter or outbox
//   units free again                  <------    taken = number + 1 (also said in the next letter of that direction)
//
// A row that the receiver cannot read (single_copy.h) is taken as well, with a word beside `taken` that says so; then
// both put that message behind all that is left between the two, and it comes in pieces.
//
// So a small message costs one cache line, and another that its receiver writes and its sender seldom reads. Letters
// may lie there when the sender has long gone on to the next call; a receiver takes those that its own call lists.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "collective/group_shape.h"
#include "collective/shared_row.h"

namespace millrace::collective {

class Mail {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct Peer {
    std::uint64_t sent = 0, taken = 0;  // letters to it, and of those what it is known to have taken
    std::uint64_t received = 0;         // letters taken from it
    std::uint64_t must_be_taken = 0;    // before the running exchange may end, for the letter points at user memory
    std::size_t send_first = 0;         // bytes sent of the message under way
    std::size_t receive_first = 0;      // bytes received of it
    std::uint32_t next_send = none;     // message of the running exchange under way to it, as an index
    std::uint32_t next_receive = none;  // and from it
    std::uint32_t rows = 0;             // letters on their way that point at user memory
    std::uint64_t rows_again = 0;       // before this call, memory is not offered to it: it could not read some
    RowReading reading;                 // a row of its that it helps to read
    RowWriting writing;                 // and one of ours that it reads
    std::uint64_t refused = 0;          // the own word of Group::rows_refused()
  };

  // Memory for a group of this shape. False: there is none.
  bool open(const GroupShape& shape);
  // Memory for exchanges of so many messages each way.
  bool make_room(std::size_t sends, std::size_t receives);

  Peer& peer(std::uint32_t rank) { return peers_[rank]; }
  // For each message, the next to the same peer.
  std::uint32_t* next_send() { return chains_.get(); }
  std::uint32_t* next_receive() { return chains_.get() + most_sends_; }
  // Room for lists of ranks.
  std::uint32_t* targets() { return lists_.get(); }
  std::uint32_t* sources() { return lists_.get() + ranks_; }

  // The first of `count` <= 64 neighbouring units of the own outbox, now taken; none if there are not so many.
  std::uint32_t take_units(std::uint32_t count) {
    std::uint64_t starts = free_units_;
    for (std::uint32_t joined = 1; joined < count && starts != 0; ++joined) starts &= free_units_ >> joined;
    if (starts == 0) return none;
    const auto first = static_cast<std::uint32_t>(std::countr_zero(starts));
    free_units_ &= ~mask(first, count);
    return first;
  }
  // Notes that the next letter to `rank` points at these units.
  void lend_units(std::uint32_t rank, std::uint32_t first, std::uint32_t count) {
    units_of(rank, peers_[rank].sent) = mask(first, count);
  }
  // Notes that `rank` has taken all letters below `taken`.
  void note_taken(std::uint32_t rank, std::uint64_t taken) {
    Peer& peer = peers_[rank];
    for (; peer.taken < taken; ++peer.taken) {
      std::uint64_t& units = units_of(rank, peer.taken);
      free_units_ |= units;
      units = 0;
    }
  }
  // That number from its low half, which may be old.
  std::uint64_t taken_from_half(std::uint32_t rank, std::uint32_t half) {
    const auto more = static_cast<std::int32_t>(half - static_cast<std::uint32_t>(peers_[rank].taken));
    return peers_[rank].taken + (more > 0 ? static_cast<std::uint32_t>(more) : 0);
  }

  // Notes that the next letter to `rank` points at user memory: the row of message `index`.
  void note_row(std::uint32_t rank, std::uint32_t index) {
    row_of(rank, peers_[rank].sent) = index + 1;
    ++peers_[rank].rows;
  }
  // The message whose row letter `number` to `rank` points at, the first time that it is asked for; else none.
  std::uint32_t forget_row(std::uint32_t rank, std::uint64_t number) {
    std::uint32_t& row = row_of(rank, number);
    const std::uint32_t index = row - 1;  // none for 0
    if (row != 0) --peers_[rank].rows;
    row = 0;
    return index;
  }

 private:
  std::uint32_t& row_of(std::uint32_t rank, std::uint64_t number) {
    return rows_[rank * letters_ + (number & (letters_ - 1))];
  }
  static std::uint64_t mask(std::uint32_t first, std::uint32_t count) {
    return (~std::uint64_t{0} >> (64 - count)) << first;
  }
  std::uint64_t& units_of(std::uint32_t rank, std::uint64_t number) {
    return units_[rank * letters_ + (number & (letters_ - 1))];
  }

  std::uint64_t free_units_ = ~std::uint64_t{0};
  std::size_t ranks_ = 0, letters_ = 0;
  std::size_t most_sends_ = 0, most_receives_ = 0;
  std::unique_ptr<Peer[]> peers_;
  std::unique_ptr<std::uint64_t[]> units_;  // of the outbox, by letter
  std::unique_ptr<std::uint32_t[]> rows_;   // messages by letter, plus 1
  std::unique_ptr<std::uint32_t[]> lists_, chains_;
};

}  // namespace millrace::collective
