// The slow side of waiting: when polling a little was not enough.
#include <sched.h>

#include <bit>
#include <ctime>

#include "collective/group.h"
#include "shared_memory/futex.h"

namespace millrace::collective {
namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t first_look_ns = 20 * ms;   // at the others' announcements
constexpr std::uint64_t look_every_ns = 200 * ms;  // also at whether they are alive
constexpr std::uint64_t longest_sleep_ns = 5 * ms;
constexpr std::uint64_t yields_before_sleep = 100;
constexpr std::uint64_t any_letter = ~std::uint64_t{0};  // as `awaited`: whatever publish_to() stores

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

Result Group::wait_for_join(std::uint64_t tries) {
  if (const auto verdict = head_->verdict.load(std::memory_order_acquire))
    return broken_ = static_cast<Result>(verdict);
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
  Patience patience;
  for (;;) {
    const unsigned polls = waiting_ == Waiting::spin ? 64 : 4;
    for (unsigned poll = 0; poll < polls; ++poll) {
      if (flag.load(std::memory_order_acquire) >= least) return Result::ok;  // partner: release in publish()
      shared_memory::cpu_pause();
    }
    if (const Result result = idle(patience, {&flag, least, nullptr, nullptr}); result != Result::ok) return result;
  }
}

Result Group::idle(Patience& patience, const Awaited& awaited) {
  const std::uint64_t round = patience.round++;
  if (round == 0) {
    patience.begin_ns = now_ns();
    patience.look_ns = patience.begin_ns + first_look_ns;
    patience.sleep_ns = ms / 4;
  }
  // Partner: fail() in any rank.
  if (const auto verdict = head_->verdict.load(std::memory_order_acquire)) [[unlikely]]
    return broken_ = static_cast<Result>(verdict);
  // A few turns without the host: its probe costs more than most waits last.
  if (round >= 3 && round % 4 == 3 && host_.progress && !host_.progress(host_.context)) return fail(Result::peer_died);
  if (waiting_ == Waiting::sleep && round >= yields_before_sleep) {
    sleep(awaited, patience.sleep_ns);
    if (patience.sleep_ns < longest_sleep_ns) patience.sleep_ns *= 2;
  } else if (waiting_ != Waiting::spin || round >= 8) {
    sched_yield();  // spinning too long usually means that the one waited for needs this core
  }
  if (round % 16 != 15 && waiting_ != Waiting::sleep) return Result::ok;
  const std::uint64_t time_ns = now_ns();
  if (time_ns < patience.look_ns) return Result::ok;
  patience.look_ns = time_ns + look_every_ns;
  return look_around(time_ns - patience.begin_ns);
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

Result Group::await_cells(std::uint64_t call_number) {
  const std::uint64_t needed = call_number - shape_.calls_ahead + 1;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    if (rank == rank_) continue;
    const std::atomic<std::uint64_t>& done = member(rank).calls_done.value;
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
// at least one of the two sees what the other wrote, and no wake is lost. The timeout is for the host's progress and
// for peers that die.
void Group::sleep(const Awaited& awaited, std::uint64_t timeout_ns) {
  const std::uint64_t offset =
      awaited.flag ? static_cast<std::uint64_t>(reinterpret_cast<const char*>(awaited.flag) - blocks_) : any_letter;
  std::atomic<std::uint64_t>& asleep = head_->asleep[rank_ / 64];
  const std::uint64_t bit = std::uint64_t{1} << (rank_ % 64);
  const std::uint32_t bell = self_->bell.load(std::memory_order_acquire);  // partner: fetch_add in ring()
  self_->awaited.store(offset, std::memory_order_relaxed);                 // released by the next line
  asleep.fetch_or(bit, std::memory_order_seq_cst);  // partners: loads in publish_and_wake() and publish_and_ring()
  // Partners: the exchanges there.
  const bool come =
      awaited.flag ? awaited.flag->load(std::memory_order_seq_cst) >= awaited.least : awaited.ready(awaited.context);
  if (!come) shared_memory::futex_wait(self_->bell, bell, timeout_ns);
  asleep.fetch_and(~bit, std::memory_order_relaxed);
}

void Group::publish_and_wake(std::atomic<std::uint64_t>& flag, std::uint64_t value) {
  flag.exchange(value, std::memory_order_seq_cst);  // partners: wait(), wait_long(), sleep()
  const auto offset = static_cast<std::uint64_t>(reinterpret_cast<const char*>(&flag) - blocks_);
  for (std::uint32_t word = 0; word * 64 < ranks(); ++word) {
    std::uint64_t sleepers = head_->asleep[word].load(std::memory_order_seq_cst);  // partner: fetch_or in sleep()
    for (; sleepers != 0; sleepers &= sleepers - 1) {
      Member& sleeper = member(word * 64 + static_cast<std::uint32_t>(std::countr_zero(sleepers)));
      if (sleeper.awaited.load(std::memory_order_relaxed) == offset) ring(sleeper);
    }
  }
}

void Group::publish_and_ring(std::uint32_t reader, std::atomic<std::uint64_t>& flag, std::uint64_t value) {
  flag.exchange(value, std::memory_order_seq_cst);  // partners: mail.cpp and sleep()
  // Partner: fetch_or in sleep().
  const std::uint64_t sleepers = head_->asleep[reader / 64].load(std::memory_order_seq_cst);
  if ((sleepers >> (reader % 64) & 1) == 0) return;
  Member& sleeper = member(reader);
  if (sleeper.awaited.load(std::memory_order_relaxed) == any_letter) ring(sleeper);
}

void Group::ring(Member& sleeper) {
  sleeper.bell.fetch_add(1, std::memory_order_release);  // partner: load in sleep()
  shared_memory::futex_wake(sleeper.bell);
}

}  // namespace millrace::collective
