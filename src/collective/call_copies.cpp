#include "collective/call_copies.h"

#include <algorithm>

#include "base/clock.h"
#include "kernel/copy/row.h"

namespace millrace::collective {

namespace {

// Slower than most copies are, for there may be several, one behind the other.
constexpr std::size_t least_bytes_in_ns = 1;
// A gift of the core costs some milliseconds, and who waits for more than a copy shall not keep it for longer.
constexpr std::uint64_t most_kept_ns = 2'000'000;

// Until it is known what costs least. Where calls are left and resumed, both ranks of a single copy must be inside MPI
// at a time, while what fits the ring of chunks or the outbox is left there by a sender that then goes on.
Copies untried(const Group& group, bool may_be_one, std::size_t bytes) {
  const bool is_left =
      group.in_background() && !group.crowded() && bytes <= group.selection().background_two_copies_bytes;
  return may_be_one && !is_left ? Copies::one : Copies::two;
}

}  // namespace

CallCopies::CallCopies(Group& group, Kind kind, const Call& call, std::size_t agreed_bytes, std::size_t own_bytes,
                       bool may_be_one)
    : group_(group), call_(call), kind_(kind), own_bytes_(own_bytes >= least_bytes ? own_bytes : 0) {
  const bool is_one_possible = may_be_one && group.reads_memory();
  copies_ = untried(group, is_one_possible, own_bytes);
  // Who waits in the middle waits for a copy. To give the core to another job then may cost a whole slice.
  group.keeps_core_ns = group.may_keep_core ? std::min<std::uint64_t>(own_bytes_ / least_bytes_in_ns, most_kept_ns) : 0;
  if (agreed_bytes != 0 && agreed_bytes < least_bytes) return;
  // The same on all ranks. Where they share cores time says little, and thresholds say it. Where calls are left and
  // resumed it says more than the copies take: how long a rank was kept from ending its part.
  if (!group.selection().choose_copies || group.crowded()) return;
  Ways ways = Ways{}.with(Copies::two);
  if (is_one_possible) ways = ways.with(Copies::one);
  if (kernel::can_stream) ways = ways.with(Copies::past_caches);
  if (ways.count() == 1) return;
  if (group.copy_choice.any_pending && own_bytes_ != 0) look_for_costs();
  const CopyChoice::Trial trial =
      group.copy_choice.next(kind, agreed_bytes, ways, kind == Kind::neighbor ? own_bytes_ : 0);
  is_trial_ = trial.is_one;
  if (is_trial_)
    copies_ = trial.copies;
  else if (own_bytes_ != 0)
    copies_ = group.copy_choice.cheapest(kind, own_bytes_, ways, copies_);
  group.past_caches = copies_ == Copies::past_caches;
  if (is_trial_ && own_bytes_ != 0) begin_ticks_ = clock_ticks();
}

// A rank with small messages only says no more than that it was there.
void CallCopies::end_trial() {
  const std::uint64_t ticks = own_bytes_ == 0 ? 0 : clock_ticks() - begin_ticks_;
  group_.note_cost(call_, ticks);
  if (own_bytes_ == 0) return;
  group_.copy_choice.remember(
      {.call = call_.number, .bytes = own_bytes_, .own_ticks = ticks, .kind = kind_, .copies = copies_});
}

void CallCopies::look_for_costs() {
  CopyChoice& choice = group_.copy_choice;
  choice.any_pending = false;
  for (CopyChoice::Pending& trial : choice.pending) {
    if (trial.bytes == 0) continue;
    // By then another call may have written over what they said.
    if (call_.number - trial.call >= CostNote::places) {
      trial.bytes = 0;
      continue;
    }
    std::uint64_t ticks = 0;
    bool all = true;
    for (std::uint32_t rank = 0; rank < group_.ranks() && all; ++rank) {
      const std::uint64_t note = group_.cost_note(rank, trial.call);
      all = CostNote::is_of(note, trial.call);
      ticks += CostNote::ticks_of(note);
    }
    if (all) {
      choice.add(trial.kind, trial.bytes, trial.copies, ticks);
      trial.bytes = 0;
    } else {
      choice.any_pending = true;
    }
  }
}

}  // namespace millrace::collective
