#include "node/nodes_agreement.h"

#include <algorithm>
#include <bit>

namespace millrace::node {
namespace {

using Kind = NodesLetter::Kind;

// Letters take as long as some calls do.
constexpr std::uint64_t lead = 4;
constexpr std::uint64_t calls_per_look = 16;  // of those so far
constexpr std::uint64_t most_calls = std::uint64_t{1} << 40;

// Proposed are the calls 17, 33, 65 ...: so that it hangs little on how fast letters are (agreement.cpp).
std::uint64_t call_from(std::uint64_t least) {
  std::uint64_t call = 17;
  while (call < least) call = 2 * call - 1;
  return call;
}

}  // namespace

NodesAgreement::NodesAgreement(const Identity& communicator, std::uint32_t rank, std::uint32_t ranks, NodesPost& post,
                               std::uint64_t calls, std::uint64_t history)
    : communicator_(communicator), rank_(rank), ranks_(ranks), post_(post) {
  NodesLetter letter;
  letter.communicator = communicator_;
  letter.from = rank_;
  letter.call = calls;
  letter.history = history;
  if (coordinates())
    join_member(letter);
  else
    post_.post(0, letter);
}

// Those who join after as many calls must have made the same: else some were made past us.
void NodesAgreement::join_member(const NodesLetter& letter) {
  if (joined_++ == 0) {
    first_calls_ = letter.call;
    first_history_ = letter.history;
  }
  if (letter.call == first_calls_ && letter.history != first_history_) spoilt_ = true;
}

void NodesAgreement::tell_all(NodesLetter letter) {
  letter.communicator = communicator_;
  letter.from = rank_;
  letter.attempt = attempt_;
  letter.call = call_;
  for (std::uint32_t member = 1; member < ranks_; ++member) post_.post(member, letter);
}

void NodesAgreement::tell_coordinator(Kind kind, std::uint64_t call) {
  NodesLetter letter;
  letter.communicator = communicator_;
  letter.kind = kind;
  letter.from = rank_;
  letter.attempt = attempt_;
  letter.call = call;
  post_.post(0, letter);
}

void NodesAgreement::read(const NodesLetter& letter, std::uint64_t next_call) {
  switch (letter.kind) {
    case Kind::joined:
      if (coordinates()) join_member(letter);
      break;
    case Kind::spoilt: spoilt_ = true; break;
    case Kind::promise:
      if (coordinates() && letter.attempt == attempt_ && call_ != 0) ++promised_;
      break;
    case Kind::late:
      furthest_ = std::max(furthest_, letter.call);
      if (letter.attempt == attempt_) is_late_ = true;
      break;
    case Kind::here:
      if (!coordinates() || letter.attempt != attempt_ || call_ == 0) break;
      ++here_;
      // Ranks of a right program know alike which calls wait for all.
      if (at_call_ != 0 && at_call_ != letter.call) is_late_ = true;
      at_call_ = letter.call;
      break;
    case Kind::proposal: {
      const bool in_time = next_call <= letter.call;
      attempt_ = letter.attempt;
      if (in_time) call_ = letter.call;
      tell_coordinator(in_time ? Kind::promise : Kind::late, in_time ? letter.call : next_call - 1);
      break;
    }
    case Kind::shared:
      if (letter.attempt == attempt_ && call_ != 0) is_shared_ = true;
      break;
    case Kind::host:
      if (letter.attempt == attempt_) call_ = 0;
      break;
  }
}

void NodesAgreement::read_all(std::uint64_t next_call) {
  for (const NodesLetter& letter : post_.collect()) read(letter, next_call);
}

void NodesAgreement::conclude(Kind kind) {
  NodesLetter letter;
  letter.kind = kind;
  tell_all(letter);
  if (kind == Kind::shared)
    is_shared_ = true;
  else
    call_ = 0;
}

void NodesAgreement::propose(std::uint64_t next_call) {
  call_ = call_from(std::max(next_call, furthest_) + lead);
  if (call_ >= most_calls) {
    state_ = State::host;
    return;
  }
  ++attempt_;
  promised_ = here_ = 0;
  at_call_ = 0;
  is_late_ = false;
  NodesLetter letter;
  letter.kind = Kind::proposal;
  tell_all(letter);
}

// Of the coordinator, at the call.
void NodesAgreement::wait_for_members(std::uint64_t next_call) {
  const std::uint64_t begin_ns = post_.now_ns();
  for (std::uint32_t round = 0;; ++round) {
    if (at_call_ != 0 && at_call_ != next_call) is_late_ = true;
    if (spoilt_ || is_late_ || all_are_here()) break;
    // Who has promised comes, or says that it has lost count.
    if (promised_ + 1 < ranks_ && post_.now_ns() - begin_ns >= wait_for_promises_ns) break;
    post_.pass_time(round);
    read_all(next_call);
  }
  conclude(all_are_here() && !spoilt_ && !is_late_ ? Kind::shared : Kind::host);
}

// Of the others.
void NodesAgreement::wait_for_answer(std::uint64_t next_call) {
  tell_coordinator(Kind::here, next_call);
  // With the answer may come the next proposal.
  const std::uint32_t attempt = attempt_;
  for (std::uint32_t round = 0; call_ != 0 && attempt_ == attempt && !is_shared_; ++round) {
    post_.pass_time(round);
    read_all(next_call);
  }
}

// To look for letters takes as long as a small call over the wire. So it is done where it matters: in calls that wait,
// which take longer anyway; in those that may be proposed; and in ever fewer of the others, for there may be no end of
// them.
bool NodesAgreement::may_look(std::uint64_t next_call, bool synchronises) {
  if (!synchronises && !std::has_single_bit(next_call - 1) && next_call < next_look_) return false;
  next_look_ = next_call + std::max<std::uint64_t>(next_call / calls_per_look, 1);
  return true;
}

NodesAgreement::State NodesAgreement::enter(std::uint64_t calls, bool synchronises) {
  if (state_ != State::undecided) return state_;
  const std::uint64_t next = calls + 1;
  if (!may_look(next, synchronises)) return state_;
  read_all(next);
  const bool is_there = call_ != 0 && next >= call_ && synchronises;
  if (coordinates()) {
    if (call_ != 0 && (spoilt_ || is_late_))
      conclude(Kind::host);
    else if (is_there)
      wait_for_members(next);
    if (spoilt_) return state_ = State::host;
    if (call_ == 0 && joined_ == ranks_) propose(next);
  } else if (is_there) {
    wait_for_answer(next);
  }
  if (is_shared_) state_ = State::shared;
  return state_;
}

void NodesAgreement::spoil() {
  state_ = State::host;
  if (!coordinates())
    tell_coordinator(Kind::spoilt, 0);
  else if (call_ != 0)
    conclude(Kind::host);
}

}  // namespace millrace::node
