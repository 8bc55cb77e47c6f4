// The slow side of waiting: when polling a little was not enough.
#include <sched.h>

#include <algorithm>
#include <bit>
#include <ctime>

#include "collective/group.h"
#include "shared_memory/futex.h"
#include "shared_memory/own_core.h"

#include "base/clock.h"

namespace millrace::collective {
namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t first_look_ns = 20 * ms;   // at the others' announcements
constexpr std::uint64_t look_every_ns = 200 * ms;  // also at whether they are alive
bool looks_in(std::uint64_t round) { return round % 16 == 15; }

// A rank that may sleep drives the host in every round, giving way in between, until neither the wait has just begun
// nor the host was needed a moment ago. Then it sleeps for slices in proportion to the time since, so that what comes
// unnoticed is late by a small part of that time. Rounds as well as times: on a busy machine a round takes long.
constexpr std::uint64_t rounds_before_sleep = 100;
constexpr std::uint64_t attentive_ns = ms, attentive_rounds = 64;  // after it was rung for the host
// Where ranks share cores a short wait drives the host once in so many rounds, for what comes first is the turn of who
// shares the core, and who drives makes all of them wait for his: of waits that end in their first round, and of the
// next ones. Others may wait for the host's steps meanwhile, and a host that keeps the core for its whole slice for one
// of them: hence, after the time of some turns of ranks that wait, as above.
constexpr std::uint32_t first_rounds_to_drive = 256, short_rounds_to_drive = 8;
constexpr std::uint64_t short_wait_ns = 30'000;
// A rank that spins gives way, too, when it has waited so long: once in so many rounds if they are short.
constexpr std::uint64_t short_rounds_to_clock = 8, long_round_ns = 2'000;
// But where the core went for so long of late, who waits for a copy waits as long as that may take (call_copies.h).
constexpr std::uint64_t slice_of_others_ns = 500'000;
// The host takes its steps one by one, and between two rounds all other ranks of the core may have theirs.
constexpr std::uint32_t drives_when_needed = 3;
constexpr std::uint64_t shortest_slice_ns = 50'000, longest_slice_ns = 5 * ms, slices_in_time = 8;
// Where somebody is in a call of the host it sleeps no more than half of the time: what takes the host many steps takes
// at most twice as long. Where it was rung before, or somebody cannot ring, a fifth of the time. Not for ever.
constexpr std::uint64_t half_awake_ns = 1000 * ms, half_awake_slices = 64;
constexpr std::uint64_t mostly_awake_ns = 100 * ms, half_awake_rounds = 8;

constexpr std::uint64_t any_letter = ~std::uint64_t{0};  // as `awaited`: whatever publish_to() stores

// What `ready` finds and proves of no use is found once; even so it is not believed in rounds in which somebody looks
// whether the others are alive.
bool has_come(const Group::Awaited& awaited, std::uint64_t round) {
  if (!awaited.flag) return !looks_in(round) && awaited.ready && awaited.ready(awaited.context);
  return awaited.flag->load(std::memory_order_acquire) >= awaited.least;  // partner: Group::publish()
}

}  // namespace

Result Group::wait_for_join(std::uint64_t tries) {
  if (const auto verdict = head_->verdict.load(std::memory_order_acquire)) return broken_ = verdict_result(verdict);
  if (host_.progress && !host_.progress(host_.context)) return fail(Result::peer_died);
  if (tries < 1000) {
    sched_yield();
  } else {
    const timespec pause{0, ms};
    nanosleep(&pause, nullptr);
  }
  return Result::ok;
}

Result Group::wait_long(const std::atomic<std::uint64_t>& flag, std::uint64_t least) {
  if (observer_) [[unlikely]]
    return observer_->wait(flag, least) ? Result::ok : fail(Result::mismatch);
  Patience patience;
  // To look again and again is for who waits; in a line that both ranks write, each look costs the writer a trip.
  if (background_) [[unlikely]]
    if (const Result result = idle(patience, {&flag, least, nullptr, nullptr}); result != Result::ok) return result;
  for (;;) {
    for (std::uint32_t poll = 0; poll < polls_between(); ++poll) {
      if (flag.load(std::memory_order_acquire) >= least) return Result::ok;  // partner: release in publish()
      shared_memory::cpu_pause();
    }
    if (const Result result = idle(patience, {&flag, least, nullptr, nullptr}); result != Result::ok) return result;
  }
}

Result Group::wait_a_round(Patience& patience, const Awaited& awaited) {
  if (observer_) [[unlikely]]
    return observer_->wait(*awaited.flag, awaited.least) ? Result::ok : fail(Result::mismatch);
  const std::uint64_t round = patience.round++;
  std::uint64_t time_ns = 0;
  if (round == 0) {
    patience.begin_ns = patience.needed_ns = time_ns = monotonic_ns();
    patience.look_ns = patience.begin_ns + first_look_ns;
    patience.attentive_until_round = rounds_before_sleep;
  }
  // Partner: fail() in any rank.
  if (const auto verdict = head_->verdict.load(std::memory_order_acquire)) [[unlikely]]
    return broken_ = verdict_result(verdict);
  // Where ranks share cores, most of what is waited for comes with the first turn of who shares this one; and a host
  // may give the core away in its progress, after which to give it away once more unlooked costs a turn of everybody.
  const bool shares_core = waiting_ != Waiting::spin;
  const bool is_shared = polls_ == polls_of(Waiting::yield);  // by now, as far as was found out
  const bool drives = host_.progress && (!is_shared || is_time_to_drive(patience, round));
  // In every round, as the host does in its own waits: what a peer does may take many steps of both.
  for (std::uint32_t drive = 0; drives && drive < patience.drives; ++drive)
    if (!host_.progress(host_.context)) return fail(Result::peer_died);
  if (drives && is_shared && has_come(awaited, round)) return Result::ok;
  const bool may_sleep = waiting_ == Waiting::sleep && round >= patience.attentive_until_round;
  if (may_sleep) time_ns = monotonic_ns();
  if (may_sleep && time_ns >= patience.attentive_until_ns) {
    if (const Result result = sleep(patience, awaited, time_ns); result != Result::ok) return result;
  } else if (shares_core) {
    sched_yield();
  } else if (gives_way(patience, time_ns)) {
    time_ns = shared_memory::own_core().give_away(time_ns);
  }
  if (time_ns == 0) {
    if (!looks_in(round)) return Result::ok;
    time_ns = monotonic_ns();
  }
  if (time_ns < patience.look_ns) return Result::ok;
  patience.look_ns = time_ns + look_every_ns;
  return look_around(time_ns - patience.begin_ns);
}

bool Group::is_time_to_drive(const Patience& patience, std::uint64_t round) {
  undriven_ += round == 0 ? 1 : first_rounds_to_drive / short_rounds_to_drive;
  if (undriven_ < first_rounds_to_drive && patience.drives == 1 &&
      (round == 0 || monotonic_ns() - patience.begin_ns < short_wait_ns))
    return false;
  undriven_ = 0;
  return true;
}

// Spinning too long usually means that the one waited for needs this core: that the machine is shared with others, or
// with ranks that count as another node's; then who waits does not look for long the next time. By time, for a round
// takes as long as the host's look at its network.
bool Group::gives_way(Patience& patience, std::uint64_t& time_ns) {
  const std::uint64_t rounds = patience.round;
  const bool was_wanted = polls_ == polls_of(Waiting::yield);
  if (!patience.rounds_are_long && !was_wanted && rounds % short_rounds_to_clock != 0) return false;
  if (time_ns == 0) time_ns = monotonic_ns();
  const bool is_wanted = shared_memory::own_core().is_wanted();
  if (polls_ == polls_of(Waiting::spin) || was_wanted) polls_ = polls_of(is_wanted ? Waiting::yield : Waiting::spin);
  const std::uint64_t waited_ns = time_ns - patience.begin_ns;
  if (is_wanted) return waited_ns >= (shared_memory::own_core().away_ns() >= slice_of_others_ns ? keeps_core_ns : 0);
  patience.rounds_are_long = waited_ns >= rounds * long_round_ns;
  return waited_ns >= shared_memory::keeps_core_ns;
}

Result Group::look(Patience& patience) {
  // Partner: fail() in any rank.
  if (const auto verdict = head_->verdict.load(std::memory_order_acquire)) [[unlikely]]
    return broken_ = verdict_result(verdict);
  const std::uint64_t round = patience.round++;
  if (!looks_in(round)) return Result::ok;
  const std::uint64_t time_ns = monotonic_ns();
  if (round == 15) {
    patience.begin_ns = time_ns;
    patience.look_ns = time_ns + first_look_ns;
  }
  if (time_ns < patience.look_ns) return Result::ok;
  patience.look_ns = time_ns + look_every_ns;
  return look_around(time_ns - patience.begin_ns);
}

Result Group::sleep(Patience& patience, const Awaited& awaited, std::uint64_t time_ns) {
  const std::uint64_t slice_ns =
      std::clamp((time_ns - patience.needed_ns) / slices_in_time, shortest_slice_ns, longest_slice_ns);
  if (sleep_until_rung(awaited, slice_ns)) {
    patience.needed_ns = monotonic_ns();
    patience.attentive_until_ns = patience.needed_ns + attentive_ns;
    patience.attentive_until_round = patience.round + attentive_rounds;
    patience.slices = 0;
    patience.drives = drives_when_needed;
    return Result::ok;
  }
  patience.drives = 1;
  const std::uint64_t unneeded_ns = time_ns - patience.needed_ns;
  if (++patience.slices > half_awake_slices && unneeded_ns > half_awake_ns) return Result::ok;
  const bool may_be_deaf = !shared_memory::everybody_rings(seating_);
  if (!may_be_deaf && !shared_memory::somebody_inside(seating_)) return Result::ok;
  // It is more likely to be needed if it was rung before, or cannot be.
  const bool likely = may_be_deaf || (patience.needed_ns != patience.begin_ns && unneeded_ns < mostly_awake_ns);
  patience.attentive_until_ns = monotonic_ns() + (likely ? 4 * slice_ns : slice_ns);
  patience.attentive_until_round = patience.round + half_awake_rounds;
  return Result::ok;
}

// Is there a reason to wait for ever?
Result Group::look_around(std::uint64_t waited_ns) {
  const Call current{calls_ - 1, 0};
  const std::uint64_t own = self_->announced[current.number % 128].load(std::memory_order_relaxed);
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    if (rank == rank_) continue;
    const Member& other = member(rank);
    const std::uint64_t announced = other.announced[current.number % 128].load(std::memory_order_relaxed);
    if (announced != own && announced >> 32 == own >> 32 && announced != 0) return fail(Result::mismatch);
    if (waited_ns < look_every_ns || other.left.load(std::memory_order_acquire)) continue;  // partner: leave()
    if (!shared_memory::maybe_alive(other.identity, identity_)) {
      // It may have left between the two looks.
      if (!other.left.load(std::memory_order_acquire)) return fail(Result::peer_died);
    }
  }
  return Result::ok;
}

namespace {

// Who is a whole ring of cells ahead gives the others a few microseconds: each look takes the line of their counter
// away from them, which they write in every call, and who writes right behind a reader has its processor ask for lines
// that the reader still needs. `looks`: what is left of them, for all ranks together.
constexpr int looks_behind = 32;
void stay_behind(const std::atomic<std::uint64_t>& done, std::uint64_t wanted, int& looks) {
  constexpr int pauses = 8;
  for (; looks > 0 && done.load(std::memory_order_relaxed) < wanted; --looks)
    for (int pause = 0; pause < pauses; ++pause) shared_memory::cpu_pause();
}

}  // namespace

Result Group::await_cells(std::uint64_t call_number) {
  const std::uint64_t needed = call_number - shape_.calls_ahead + 1;
  // A rank that has no core of its own, or other work, has no time for that.
  int looks = crowded_ || background_ || observer_ ? 0 : looks_behind;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    if (rank == rank_) continue;
    const std::atomic<std::uint64_t>& done = member(rank).calls_done.value;
    stay_behind(done, needed + shape_.calls_ahead / 4, looks);
    if (const Result result = wait(done, needed); result != Result::ok) return result;
    const std::uint64_t now = done.load(std::memory_order_acquire);  // partner: release in publish() by finish()
    least = now < least ? now : least;
  }
  calls_free_ = least == ~std::uint64_t{0} ? least : least + shape_.calls_ahead;
  return Result::ok;
}

Result Group::all_finished(const Call& call) {
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    if (rank == rank_) continue;
    if (const Result result = wait(member(rank).calls_done.value, call.number + 1); result != Result::ok) return result;
  }
  return Result::ok;
}

Result Group::await_slots(std::uint64_t chunk) {
  const std::uint64_t needed = chunk - shape_.slots + 1;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    if (rank == rank_) continue;
    const std::atomic<std::uint64_t>& done = member(rank).chunks_done.value;
    if (const Result result = wait(done, needed); result != Result::ok) return result;
    const std::uint64_t now = done.load(std::memory_order_acquire);  // partner: release in publish()
    least = now < least ? now : least;
  }
  chunks_free_ = least == ~std::uint64_t{0} ? least : least + shape_.slots;
  return Result::ok;
}

// Sleeper and waker each write one thing and then read the other's: all four accesses are sequentially consistent, so
// at least one of the two sees what the other wrote, and no wake is lost. The timeout is for peers that die, and for
// what the host does unnoticed. Whether somebody has rung for the host.
bool Group::sleep_until_rung(const Awaited& awaited, std::uint64_t timeout_ns) {
  const std::uint64_t offset =
      awaited.flag ? static_cast<std::uint64_t>(reinterpret_cast<const char*>(awaited.flag) - blocks_) : any_letter;
  std::atomic<std::uint64_t>& asleep = head_->asleep[rank_ / 64];
  const std::uint64_t bit = std::uint64_t{1} << (rank_ % 64);
  std::atomic<std::uint32_t>& own_bell = bell(*self_);
  // Partners: fetch_add in ring() and ring_sleepers().
  const std::uint32_t heard = own_bell.load(std::memory_order_acquire);
  self_->awaited.store(offset, std::memory_order_relaxed);  // released by the next line
  asleep.fetch_or(bit, std::memory_order_seq_cst);  // partners: loads in publish_and_wake() and publish_and_ring()
  if (seating_.attention) {
    shared_memory::fall_asleep(*seating_.attention, seating_.seat);
    // Once more: a call of the host that has not seen us fall asleep has most likely sent by now.
    if (host_.progress) host_.progress(host_.context);
  }
  // Partners: the exchanges there.
  const bool come =
      awaited.flag ? awaited.flag->load(std::memory_order_seq_cst) >= awaited.least : awaited.ready(awaited.context);
  if (!come) shared_memory::futex_wait(own_bell, heard, timeout_ns);
  asleep.fetch_and(~bit, std::memory_order_relaxed);
  return seating_.attention && shared_memory::wake_up(*seating_.attention, seating_.seat);
}

void Group::publish_and_wake(std::atomic<std::uint64_t>& flag, std::uint64_t value) {
  flag.exchange(value, std::memory_order_seq_cst);  // partners: wait(), wait_long(), sleep_until_rung()
  if (observer_) [[unlikely]]
    return observer_->published(flag, value);
  const auto offset = static_cast<std::uint64_t>(reinterpret_cast<const char*>(&flag) - blocks_);
  for (std::uint32_t word = 0; word * 64 < ranks(); ++word) {
    // Partner: fetch_or in sleep_until_rung().
    std::uint64_t sleepers = head_->asleep[word].load(std::memory_order_seq_cst);
    if (ranks() - word * 64 < 64) sleepers &= (std::uint64_t{1} << (ranks() % 64)) - 1;
    for (; sleepers != 0; sleepers &= sleepers - 1) {
      Member& sleeper = member(word * 64 + static_cast<std::uint32_t>(std::countr_zero(sleepers)));
      if (sleeper.awaited.load(std::memory_order_relaxed) == offset) ring(sleeper);
    }
  }
}

void Group::publish_and_ring(std::uint32_t reader, std::atomic<std::uint64_t>& flag, std::uint64_t value) {
  flag.exchange(value, std::memory_order_seq_cst);  // partners: mail.cpp and sleep_until_rung()
  // Partner: fetch_or in sleep_until_rung().
  const std::uint64_t sleepers = head_->asleep[reader / 64].load(std::memory_order_seq_cst);
  if ((sleepers >> (reader % 64) & 1) == 0) return;
  Member& sleeper = member(reader);
  if (sleeper.awaited.load(std::memory_order_relaxed) == any_letter) ring(sleeper);
}

std::atomic<std::uint32_t>& Group::bell(Member& of) const {
  const std::uint32_t seat = shared_memory::read_once(of.bell_seat) - 1;
  return seating_.attention && seat < shared_memory::Attention::most_seats ? seating_.attention->seats[seat].bell
                                                                           : of.bell;
}

void Group::ring(Member& sleeper) {
  std::atomic<std::uint32_t>& its = bell(sleeper);
  its.fetch_add(1, std::memory_order_release);  // partner: load in sleep_until_rung()
  shared_memory::futex_wake(its);
}

}  // namespace millrace::collective
