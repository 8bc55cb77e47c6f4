#include "node/nodes_agreement.h"

#include <algorithm>

namespace millrace::node {
namespace {

using Kind = NodesLetter::Kind;

// Letters take as long as some calls do.
constexpr std::uint64_t lead = 4;
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
    case Kind::proposal: {
      const bool in_time = next_call <= letter.call;
      NodesLetter answer = letter;
      answer.kind = in_time ? Kind::promise : Kind::late;
      answer.from = rank_;
      answer.call = in_time ? letter.call : next_call - 1;
      post_.post(0, answer);
      if (!in_time) break;
      call_ = letter.call;
      attempt_ = letter.attempt;
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
  promised_ = 0;
  is_late_ = false;
  NodesLetter letter;
  letter.kind = Kind::proposal;
  tell_all(letter);
}

NodesAgreement::State NodesAgreement::enter(std::uint64_t calls) {
  if (state_ != State::undecided) return state_;
  const std::uint64_t next = calls + 1;
  read_all(next);
  if (coordinates()) {
    const auto all_promised = [this] { return promised_ + 1 == ranks_; };
    if (call_ == next && !is_shared_ && !spoilt_)
      for (std::uint64_t begin_ns = post_.now_ns(), round = 0;
           !all_promised() && !spoilt_ && !is_late_ && post_.now_ns() - begin_ns < wait_for_promises_ns; ++round) {
        post_.pass_time(static_cast<std::uint32_t>(round));
        read_all(next);
      }
    if (call_ != 0 && !is_shared_) {
      if (all_promised() && !spoilt_)
        conclude(Kind::shared);
      else if (call_ == next || spoilt_ || is_late_)
        conclude(Kind::host);
    }
    if (spoilt_ && !is_shared_) return state_ = State::host;
    if (call_ == 0 && joined_ == ranks_) propose(next);
  } else {
    // Who has promised hears what became of it.
    for (std::uint32_t round = 0; call_ == next && !is_shared_; ++round) {
      post_.pass_time(round);
      read_all(next);
    }
  }
  if (is_shared_ && call_ == next) state_ = State::shared;
  return state_;
}

void NodesAgreement::spoil() {
  if (coordinates()) {
    spoilt_ = true;
    return;
  }
  NodesLetter letter;
  letter.communicator = communicator_;
  letter.from = rank_;
  letter.kind = Kind::spoilt;
  post_.post(0, letter);
}

}  // namespace millrace::node
