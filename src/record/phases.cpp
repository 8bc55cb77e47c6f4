#include "record/phases.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "record/thread_block.h"

namespace millrace::record {
namespace {

constexpr std::uint64_t first_slice_ticks = std::uint64_t{1} << 16;  // some 25 us

constinit std::atomic<std::uint64_t> started_ticks{0};  // relaxed; 0: not yet

void store(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref<std::uint64_t>(word).store(value, std::memory_order_relaxed);
}
void store(ThreadSums& sums, const ThreadSums& value) {
  store(sums.calls, value.calls);
  store(sums.bytes, value.bytes);
  store(sums.ticks, value.ticks);
}
ThreadSums load(ThreadSums& sums) { return {read(sums.calls), read(sums.bytes), read(sums.ticks)}; }

// While a thread changes its slices their version is odd. Partner of both: the loads in copied().
class Changing {
 public:
  explicit Changing(ThreadPhases& phases)
      : version_(phases.version), before_(version_.load(std::memory_order_relaxed)) {
    version_.store(before_ + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  ~Changing() { version_.store(before_ + 2, std::memory_order_release); }
  Changing(const Changing&) = delete;
  Changing& operator=(const Changing&) = delete;

 private:
  std::atomic_ref<std::uint64_t> version_;
  std::uint64_t before_;
};

void halve(ThreadPhases& phases) {
  const std::uint64_t used = phases.used / 2;  // half of a new slice is not over yet
  for (std::size_t slice = 0; slice < used; ++slice) store(phases.at_end[slice], load(phases.at_end[2 * slice + 1]));
  store(phases.used, used);
  store(phases.slice_ticks, 2 * phases.slice_ticks);
}

// What a thread has done until a moment, between moments of which it is known.
class Course {
 public:
  Course(ThreadBlock& block, std::uint64_t start, std::uint64_t now) {
    ThreadPhases phases;
    if (!copied(block.phases, phases) || phases.slice_ticks == 0) return;
    add(start, phases.base);
    for (std::size_t slice = 0; slice < phases.used; ++slice)
      add(start + (slice + 1) * phases.slice_ticks, phases.at_end[slice]);
    // What is after the last end of a slice, before the last end of a call.
    const std::uint64_t last = std::max(read(block.last_end_ticks), ticks_[static_cast<std::size_t>(length_ - 1)]);
    const ThreadSums sums = load(block.sums);
    add(last, sums);
    add(std::max(now, last), sums);
  }

  bool is_known() const { return length_ != 0; }

  // Calls, bytes, ticks.
  std::array<double, 3> until(double ticks) const {
    const auto after = std::upper_bound(ticks_.begin() + 1, ticks_.begin() + length_ - 1, ticks,
                                        [](double at, std::uint64_t point) { return at < static_cast<double>(point); });
    const auto place = static_cast<std::size_t>(after - ticks_.begin());
    const auto from = static_cast<double>(ticks_[place - 1]), to = static_cast<double>(ticks_[place]);
    const double part = to > from ? std::clamp((ticks - from) / (to - from), 0.0, 1.0) : 1;
    const auto between = [&](std::uint64_t ThreadSums::*member) {
      const auto first = static_cast<double>(sums_[place - 1].*member);
      return first + part * (static_cast<double>(sums_[place].*member) - first);
    };
    return {between(&ThreadSums::calls), between(&ThreadSums::bytes), between(&ThreadSums::ticks)};
  }

 private:
  static bool copied(ThreadPhases& from, ThreadPhases& to) {
    constexpr int tries = 1000;
    const std::atomic_ref<std::uint64_t> version(from.version);
    for (int left = tries; left != 0; --left) {
      const std::uint64_t before = version.load(std::memory_order_acquire);
      if (before % 2 != 0) continue;
      to.slice_ticks = read(from.slice_ticks);
      to.used = std::min<std::uint64_t>(read(from.used), phase_slices);
      to.base = load(from.base);
      for (std::size_t slice = 0; slice < to.used; ++slice) to.at_end[slice] = load(from.at_end[slice]);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (version.load(std::memory_order_relaxed) == before) return true;
    }
    return false;
  }

  void add(std::uint64_t ticks, const ThreadSums& sums) {
    ticks_[length_] = ticks;
    sums_[length_++] = sums;
  }

  std::array<std::uint64_t, phase_slices + 3> ticks_{};
  std::array<ThreadSums, phase_slices + 3> sums_{};
  std::ptrdiff_t length_ = 0;
};

std::uint64_t whole(double number) { return static_cast<std::uint64_t>(std::llround(std::max(number, 0.0))); }

}  // namespace

void start_phases(std::uint64_t ticks) noexcept {
  std::uint64_t none = 0;
  started_ticks.compare_exchange_strong(none, ticks, std::memory_order_relaxed);
}

void cross_slices(ThreadBlock& block, std::uint64_t end_ticks, std::uint64_t call_ticks) noexcept {
  const std::uint64_t start = started_ticks.load(std::memory_order_relaxed);
  if (start == 0 || end_ticks <= start) return;
  ThreadPhases& phases = block.phases;
  const Changing changing(phases);
  const ThreadSums before = load(block.sums);
  const std::uint64_t begin = std::max(end_ticks - std::min(end_ticks, call_ticks), start);
  if (phases.slice_ticks == 0) {
    // The first call: what was before the start is no part of any slice.
    const std::uint64_t before_start = call_ticks - (end_ticks - begin);
    store(phases.base, {before.calls, before.bytes, before.ticks + before_start});
    store(phases.slice_ticks, first_slice_ticks);
  }
  while ((end_ticks - start) / phases.slice_ticks >= phase_slices) halve(phases);
  const std::uint64_t slice = (end_ticks - start) / phases.slice_ticks;
  for (std::uint64_t over = phases.used; over < slice; ++over) {
    const std::uint64_t end_of_slice = start + (over + 1) * phases.slice_ticks;
    const std::uint64_t inside = end_of_slice > begin ? end_of_slice - begin : 0;
    store(phases.at_end[over], {std::max(before.calls, phases.base.calls), std::max(before.bytes, phases.base.bytes),
                                std::max(before.ticks, phases.base.ticks) + inside});
  }
  store(phases.used, slice);
  store(block.next_slice_ticks, start + (slice + 1) * phases.slice_ticks);
}

Phases phases_until_now(std::uint64_t now_ticks, double ns_per_tick) {
  const std::uint64_t start = started_ticks.load(std::memory_order_relaxed);
  if (start == 0 || now_ticks <= start) return {};
  const auto wall = static_cast<double>(now_ticks - start);
  // Of all threads, at the ends of slices. Rounded there, so that the slices add up to the whole.
  std::array<std::array<double, 3>, phase_slices> until_end{};
  bool is_any_known = false;
  for (ThreadBlock* block = first_block(); block; block = block->next) {
    const Course course(*block, start, now_ticks);
    if (!course.is_known()) continue;
    is_any_known = true;
    const std::array<double, 3> at_start = course.until(static_cast<double>(start));
    for (std::size_t slice = 0; slice < phase_slices; ++slice) {
      const double end = static_cast<double>(start) + wall * static_cast<double>(slice + 1) / phase_slices;
      const std::array<double, 3> until = course.until(end);
      for (std::size_t what = 0; what < until.size(); ++what) until_end[slice][what] += until[what] - at_start[what];
    }
  }
  Phases phases{whole(wall * ns_per_tick), {}};
  if (!is_any_known) return phases;
  phases.slices.reserve(phase_slices);
  PhaseSlice before;
  for (const auto& [calls, bytes, ticks] : until_end) {
    const PhaseSlice until{whole(calls), whole(bytes), whole(ticks * ns_per_tick)};
    phases.slices.push_back({until.calls - before.calls, until.bytes - before.bytes, until.time_ns - before.time_ns});
    before = until;
  }
  return phases;
}

void reset_phases() noexcept {
  started_ticks.store(0, std::memory_order_relaxed);
  for (ThreadBlock* block = first_block(); block; block = block->next) {
    store(block->next_slice_ticks, 0);
    store(block->last_end_ticks, 0);
    store(block->phases.slice_ticks, 0);
    store(block->phases.used, 0);
  }
}

}  // namespace millrace::record
