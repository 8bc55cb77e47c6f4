#include "node/agreement.h"

#include <algorithm>

namespace millrace::node {
namespace {

// How long a member waits at the proposed call for the promises of others. Those that are inside the call before it
// come out by themselves, and this bounds the wait for one that is stopped, or has left its call by other ways than its
// end.
constexpr std::uint64_t wait_for_near_ns = 100'000'000;
// The others may do anything meanwhile, also wait for this member: a hundredth of the time since it joined, so that all
// such waits together cost no more than a few hundredths. But a fifth of what it takes to join, in all of them: a root
// is some tens of calls ahead of those that its host buffers data for, whether it began a moment ago or not.
constexpr std::uint64_t share_of_time = 100;
constexpr std::uint64_t wait_for_far_at_least_ns = 200'000;
constexpr std::uint64_t longest_wait_for_far_ns = 20'000'000;
constexpr std::uint64_t lead = 2;

// Proposed are the calls 9, 17, 33, 65 ...: so the call from which memory is shared, and with it the order in which
// numbers are added, does not hang on who came out of which call first, but where somebody could not keep up.
std::uint64_t call_from(std::uint64_t least) {
  std::uint64_t call = 9;
  while (call < least) call = 2 * call - 1;
  return call;
}

}  // namespace

Agreement::Agreement(AgreementRecord& record, std::uint32_t member, std::uint32_t members, const AgreementUser& user,
                     std::uint64_t calls, std::uint64_t history)
    : record_(record),
      members_(members_of(record)),
      self_(members_of(record)[member]),
      user_(user),
      count_(members),
      calls_(calls),
      next_proposal_(calls),
      began_ns_(user.now_ns()),
      history_(history) {
  self_.entered.store(calls_, std::memory_order_seq_cst);
  record_.joined.fetch_add(1, std::memory_order_seq_cst);
}

bool Agreement::change(const Decision& from, Stand to) {
  std::uint64_t expected = from.word();
  return record_.decision.compare_exchange_strong(expected, from.with(to).word(), std::memory_order_seq_cst);
}

// Nobody has come to the call of that proposal in shared memory yet, and now nobody will.
void Agreement::abort(const Decision& seen) {
  Decision now = seen;
  while (now.attempt == seen.attempt && (now.stand == Stand::open || now.stand == Stand::promised)) {
    if (change(now, Stand::aborted)) return;
    now = look();
  }
}

// The proposed call is the next one of this member, and nothing can fail before it.
void Agreement::promise(const Decision& proposal) {
  if (promised_ == proposal.attempt) return;  // and so never for attempt 0, which nobody proposes
  if (!user_.prepare(user_.user)) return abort(proposal);
  promised_ = proposal.attempt;
  const std::uint64_t own = Promise::word(proposal.attempt, history_);
  self_.promised.store(own, std::memory_order_seq_cst);
  // The last of all sees the promises of the others, for all stores and loads of promises are in one order.
  bool all = true;
  for (std::uint32_t member = 0; member < count_; ++member) {
    const std::uint64_t promised = members_[member].promised.load(std::memory_order_seq_cst);
    const bool has_promised = Promise::attempt(promised) == proposal.attempt;
    // The same number of calls, but others: some were made behind our back.
    if (has_promised && promised != own) return abort(proposal);
    all = all && has_promised;
  }
  if (all) change(proposal, Stand::promised);
}

// no: somebody has gone past the call without a promise. inside: everybody has begun the call before it, so the host
// lets everybody out of that.
Agreement::Near Agreement::find_near(const Decision& proposal) const {
  Near near = Near::inside;
  for (std::uint32_t member = 0; member < count_; ++member) {
    const bool has_promised =
        Promise::attempt(members_[member].promised.load(std::memory_order_seq_cst)) == proposal.attempt;
    const std::uint64_t entered = members_[member].entered.load(std::memory_order_seq_cst);
    if (entered >= proposal.call && !has_promised) return Near::no;
    if (entered + 1 < proposal.call) near = Near::all;
  }
  return near;
}

void Agreement::wait_for_promises(const Decision& proposal) {
  const std::uint64_t begin_ns = user_.now_ns();
  const std::uint64_t left_ns = wait_for_far_at_least_ns - std::min(waited_ns_, wait_for_far_at_least_ns);
  const std::uint64_t far_ns =
      std::min(std::max((begin_ns - began_ns_) / share_of_time, left_ns), longest_wait_for_far_ns);
  for (std::uint32_t round = 0; look().word() == proposal.word(); ++round) {
    const Near near = find_near(proposal);
    const std::uint64_t waited_ns = user_.now_ns() - begin_ns;
    if (near == Near::no || waited_ns > (near == Near::inside ? wait_for_near_ns : far_ns)) {
      waited_ns_ += waited_ns;
      return abort(proposal);
    }
    user_.pass_time(user_.user, round);
  }
}

Agreement::State Agreement::enter() {
  // A call that was left without its end: an error handler that never returned.
  if (inside_) give_up();
  if (state_ != State::undecided) return state_;
  const std::uint64_t call = calls_ + 1;
  Decision decision = look();
  if (decision.stand == Stand::open && decision.call == call) {
    promise(decision);
    if (promised_ != 0 && promised_ == decision.attempt) wait_for_promises(decision);
    decision = look();
  }
  if (decision.call == call && promised_ != 0 && promised_ == decision.attempt) {
    if (decision.stand == Stand::promised) change(decision, Stand::active);
    if (look().stand == Stand::active) return state_ = State::shared;
  }
  inside_ = true;
  self_.entered.store(call, std::memory_order_seq_cst);
  // A proposal of this very call, or of one before it, that came too late to be promised. Its proposer looks at
  // `entered` once more after it has opened it: one of the two sees the other.
  decision = look();
  if (decision.stand == Stand::open && decision.call <= call) abort(decision);
  return state_;
}

// This member does not know any more which number the next call has for the others.
void Agreement::give_up() {
  inside_ = false;
  abort(look());
  spoil();
}

void Agreement::spoil() {
  record_.spoilt.store(1, std::memory_order_relaxed);  // a hint to the others not to propose
  state_ = State::host;
}

bool Agreement::all_have_entered() const {
  for (std::uint32_t member = 0; member < count_; ++member)
    if (members_[member].entered.load(std::memory_order_seq_cst) < calls_) return false;
  return true;
}

Agreement::State Agreement::leave(std::uint64_t kind, bool succeeded, bool synchronised) {
  if (!inside_ || state_ != State::undecided) return state_;
  if (!succeeded) {
    give_up();
    return state_;
  }
  inside_ = false;
  ++calls_;
  history_ = history_after(history_, kind);
  const bool all_joined = record_.joined.load(std::memory_order_seq_cst) == count_;
  // Who has come out of a call that synchronises and finds somebody who has not entered it counts other calls than that
  // member does: some were made behind our back.
  if (synchronised && all_joined && !all_have_entered()) {
    give_up();
    return state_;
  }
  const Decision decision = look();
  if (decision.stand == Stand::open && decision.call == calls_ + 1)
    promise(decision);
  else if (may_propose(decision))
    propose();
  return state_;
}

// What was aborted is not proposed again before its call has gone by.
bool Agreement::may_propose(const Decision& decision) const {
  if (calls_ < next_proposal_) return false;
  return decision.stand == Stand::none || (decision.stand == Stand::aborted && calls_ >= decision.call);
}

void Agreement::propose() {
  if (record_.spoilt.load(std::memory_order_relaxed) != 0) {
    state_ = State::host;
    return;
  }
  // Most join at their next call; some may never do.
  next_proposal_ = calls_ + 1 + (calls_ >> 4);
  if (record_.joined.load(std::memory_order_seq_cst) < count_) return;
  next_proposal_ = calls_ * 2;  // if there is no memory
  if (!user_.find_memory(user_.user) || !user_.lock(user_.user)) return;
  const Decision decision = look();
  next_proposal_ = calls_;
  if (may_propose(decision) && decision.attempt < Decision::most_attempts) {
    std::uint64_t furthest = calls_;
    for (std::uint32_t member = 0; member < count_; ++member)
      furthest = std::max(furthest, members_[member].entered.load(std::memory_order_seq_cst));
    if (furthest < Decision::most_calls / 4) {
      const Decision proposal{decision.attempt + 1, call_from(furthest + lead), Stand::open};
      record_.decision.store(proposal.word(), std::memory_order_seq_cst);
      if (find_near(proposal) == Near::no) abort(proposal);
    }
  }
  user_.unlock(user_.user);
}

bool Agreement::end() {
  if (state_ == State::undecided) {
    inside_ = false;
    abort(look());
    state_ = State::host;
  }
  if (self_.left.exchange(1, std::memory_order_seq_cst) != 0) return false;
  return record_.left.fetch_add(1, std::memory_order_seq_cst) + 1 == count_;
}

}  // namespace millrace::node
