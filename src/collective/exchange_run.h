// One exchange of one rank, under way (mail.h has the protocol).
#pragma once

#include <cstdint>
#include <span>

#include "collective/call_copies.h"
#include "collective/exchange.h"
#include "collective/mail.h"

namespace millrace::collective {

class ExchangeRun {
 public:
  ExchangeRun(Group& group, Kind kind, const Call& call, std::span<const Message> sends,
              std::span<const Message> receives, std::size_t block_bytes)
      : group_(group),
        mail_(group.mail()),
        kind_(kind),
        call_(call),
        sends_(sends),
        receives_(receives),
        copies_(group, kind, call, block_bytes, largest(), block_bytes == 0 || at_least(block_bytes, least_row())) {}

  Result run();

 private:
  std::uint32_t least_row() const;
  std::size_t largest() const;
  bool list_messages();
  void copy_own();
  bool advance();
  bool send(std::uint32_t rank);
  bool receive(std::uint32_t rank);
  bool send_letter(std::uint32_t rank, const Data& data);
  Result take_letter(std::uint32_t rank, const Letter& letter, LetterKind kind, std::size_t bytes);
  Result take_row(std::uint32_t rank, std::uint64_t address, const Data& data, std::size_t wanted);
  bool shares_row(const Data& data, std::size_t wanted) const;
  void refuse_row(std::uint32_t rank);
  void forget_refused(std::uint32_t rank);
  bool goes_by_row(std::uint32_t rank, const Data& data) const;
  bool fill_piece(std::uint32_t rank, const Data& data, Letter& letter);
  void look_for_taken(std::uint32_t rank);
  void note_taken(std::uint32_t rank, std::uint64_t taken);
  void look_for_refused(std::uint32_t rank, std::uint64_t taken);
  bool room_for_letter(std::uint32_t rank);
  bool ready();
  bool somebody_has_gone_on();

  Group& group_;
  Mail& mail_;
  const Kind kind_;
  const Call& call_;
  std::span<const Message> sends_, receives_;
  CallCopies copies_;
  std::uint32_t units_of_piece_ = 0;                   // the most
  std::uint32_t target_count_ = 0, source_count_ = 0;  // peers to whom, and from whom, something is still to come
  bool truncated_ = false, opened_ = false;            // opened: rows that their senders help to read
  Result result_ = Result::ok;
};

}  // namespace millrace::collective
