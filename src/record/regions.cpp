#include "record/regions.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "record/process_lock.h"
#include "record/thread_block.h"

namespace millrace::record {
namespace {

struct Sums {
  std::uint64_t calls = 0, bytes = 0, ticks = 0, clock = 0;
};

struct Region {
  std::array<char, longest_region_name> letters;
  std::size_t length;
  std::uint64_t entered;
  Sums sums;
};

constexpr std::size_t places = most_regions + 1;  // the last one: others

// Constant-initialised, and of fixed size: a signal may come at any moment, and programs may end in any way.
struct State {
  std::array<Region, places> regions;
  std::size_t length;
  std::array<std::uint8_t, deepest_region> open;  // by place, outermost first
  std::size_t depth;
  std::uint64_t unbalanced;
  Sums last;  // of all threads, when a region began or ended last
};
constinit State state{};

// What threads have counted is gone in a child of fork() as well (record.cpp).
void start_clean_in_child();
constinit ProcessLock lock{[] { pthread_atfork(nullptr, nullptr, start_clean_in_child); }};
void start_clean_in_child() {
  state = {};
  lock.make_anew();
}

Sums sums_now() {
  Sums sums;
  for (ThreadBlock* block = first_block(); block; block = block->next) {
    sums.calls += read(block->sums.calls);
    sums.bytes += read(block->sums.bytes);
    sums.ticks += read(block->sums.ticks);
  }
  sums.clock = clock_ticks();
  return sums;
}

void add(Sums& sums, const Sums& now, const Sums& before) {
  sums.calls += now.calls - before.calls;
  sums.bytes += now.bytes - before.bytes;
  sums.ticks += now.ticks - before.ticks;
  sums.clock += now.clock - before.clock;
}

bool is_open_below(const State& in, std::size_t level) {
  const auto* const end = in.open.begin() + level;
  return std::find(in.open.begin(), end, in.open[level]) != end;
}

// Gives what happened since the last mark to the regions that are open.
void account(State& in) {
  const Sums now = sums_now();
  for (std::size_t level = 0; level < in.depth; ++level)
    if (!is_open_below(in, level)) add(in.regions[in.open[level]].sums, now, in.last);
  in.last = now;
}

std::string_view name_of(const Region& region) { return {region.letters.data(), region.length}; }

std::string_view cut(std::string_view name) { return name.substr(0, longest_region_name); }

std::size_t find_place(std::string_view name) {
  std::size_t place = 0;
  while (place < state.length && name_of(state.regions[place]) != name) ++place;
  return place < state.length ? place : most_regions;
}

std::size_t place_of(std::string_view name) {
  const std::size_t found = find_place(name);
  if (found != most_regions || state.length == most_regions) return found;
  Region& region = state.regions[state.length];
  std::memcpy(region.letters.data(), name.data(), name.size());
  region.length = name.size();
  return state.length++;
}

void open(std::string_view name) {
  const std::size_t place = place_of(name);
  state.regions[place].entered += 1;
  state.open[state.depth++] = static_cast<std::uint8_t>(place);
}

}  // namespace

void begin_region(std::string_view name) noexcept {
  const Hold hold(lock);
  account(state);
  if (state.depth == deepest_region)
    state.unbalanced += 1;
  else
    open(cut(name));
}

void end_region(std::string_view name) noexcept {
  const Hold hold(lock);
  account(state);
  const std::size_t place = find_place(cut(name));
  for (std::size_t level = state.depth; level-- > 0;) {
    if (state.open[level] != place) continue;
    state.unbalanced += state.depth - 1 - level;
    state.depth = level;
    return;
  }
  state.unbalanced += 1;
}

void change_region(std::string_view name) noexcept {
  const Hold hold(lock);
  account(state);
  state.depth = 0;
  open(cut(name));
}

void note_nameless_region() noexcept {
  const Hold hold(lock);
  state.unbalanced += 1;
}

Regions regions_until_now(double ns_per_tick) {
  State now;
  {
    const Hold hold(lock, Hold::a_while);
    if (!hold.has()) return {};
    now = state;
  }
  account(now);
  const auto to_ns = [ns_per_tick](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(ticks) * ns_per_tick));
  };
  Regions result{{}, now.unbalanced};
  for (std::size_t place = 0; place < places; ++place) {
    const Region& region = now.regions[place];
    if (region.entered == 0) continue;
    result.all.push_back({std::string(place == most_regions ? other_regions : name_of(region)), region.entered,
                          region.sums.calls, region.sums.bytes, to_ns(region.sums.ticks), to_ns(region.sums.clock)});
  }
  return result;
}

void reset_regions() noexcept {
  const Hold hold(lock);
  state = {};
  state.last = sums_now();
}

}  // namespace millrace::record
