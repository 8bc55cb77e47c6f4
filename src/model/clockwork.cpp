#include "model/clockwork.h"

#include <algorithm>
#include <cmath>

namespace millrace::model {
namespace {

constexpr std::size_t line_bytes = 64;

std::uintptr_t line_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address) / line_bytes; }

}  // namespace

Clockwork::Clockwork(const Machine& machine, const Costs& costs, std::uint32_t ranks, double working_bytes)
    : machine_(machine),
      costs_(costs),
      cached_(costs.parts_of(working_bytes)),
      ranks_(ranks),
      cores_(machine.core_count()),
      package_free_ns_(machine.packages) {
  for (std::uint32_t number = 0; number < ranks; ++number) {
    ranks_[number].number = number;
    ranks_[number].core = number % machine.core_count();
  }
}

void Clockwork::share(const char* base, std::size_t bytes) {
  shared_ = base;
  shared_bytes_ = bytes;
  writers_.resize(bytes / line_bytes + 1);
  holders_.resize(writers_.size());
  if (machine_.core_count() <= 64) cores_that_have_.resize(writers_.size());
}

void Clockwork::own(const char* base, std::size_t each_bytes, std::size_t helped_bytes) {
  owned_ = base;
  owned_each_bytes_ = each_bytes;
  helped_bytes_ = helped_bytes;
}

// A rank that shares its core keeps it until it has to wait; one whose time is least anyway goes on.
void Clockwork::take_turn(Rank& rank) {
  if (ranks_.size() > machine_.core_count()) return;
  if (ready_.empty() || rank.clock_ns < ready_.top().first) return;
  later(rank);
  Fiber::suspend();
}

void Clockwork::work(Rank& rank) { (*work_)(rank.number); }

void Clockwork::go_on(Rank& rank) {
  // Who shares its core waits for it to be left.
  Core& own = cores_[rank.core];
  rank.clock_ns = std::max(rank.clock_ns, own.free_ns);
  if (own.last != rank.number && own.last != ~0u) {
    rank.clock_ns += costs_.switch_ns;
    rank.free_to_ask_ns = rank.clock_ns;
  }
  own.last = rank.number;
  current_ = &rank;
  if (rank.fiber->has_returned()) {
    struct Start {
      Clockwork* clockwork;
      Rank* rank;
    };
    Start start{this, &rank};
    rank.fiber->start(
        [](void* context) {
          const Start copy = *static_cast<Start*>(context);
          copy.clockwork->work(*copy.rank);
        },
        &start);
  } else {
    rank.fiber->resume();
  }
  own.free_ns = std::max(own.free_ns, rank.clock_ns);
}

const char* Clockwork::run(const std::function<void(std::uint32_t)>& work) {
  const char* failure = "";
  work_ = &work;
  for (Rank& rank : ranks_) {
    rank.fiber = Fiber::take();
    if (!rank.fiber) failure = "no memory for the stacks of all ranks";
    later(rank);
  }
  while (!ready_.empty() && *failure == 0) {
    Rank& rank = ranks_[ready_.top().second];
    ready_.pop();
    go_on(rank);
  }
  for (Rank& rank : ranks_) {
    if (!rank.fiber) continue;
    // A stack that was left is lost with what stands on it.
    if (rank.fiber->has_returned())
      rank.fiber->give_back();
    else if (*failure == 0)
      failure = "a rank waits for ever";
  }
  return failure;
}

void Clockwork::begin_measured() {
  Rank& rank = *current_;
  meeting_ns_ = std::max(meeting_ns_, rank.clock_ns);
  if (++meeting_ < ranks_.size()) {
    Fiber::suspend();
  } else {
    for (Rank& other : ranks_) {
      other.clock_ns = meeting_ns_;
      other.is_measured = true;
      if (&other != &rank) later(other);
    }
    for (Core& each : cores_) each.free_ns = meeting_ns_;
    std::fill(package_free_ns_.begin(), package_free_ns_.end(), meeting_ns_);
    wire_free_ns_ = meeting_ns_;
  }
  rank.timeline.came_ns = rank.clock_ns;
}

void Clockwork::end_measured() { current_->timeline.left_ns = current_->clock_ns; }

std::vector<Timeline> Clockwork::take_timelines() {
  std::vector<Timeline> all;
  all.reserve(ranks_.size());
  for (Rank& rank : ranks_) all.push_back(std::move(rank.timeline));
  return all;
}

void Clockwork::published(const std::atomic<std::uint64_t>& flag, std::uint64_t value) {
  Rank& rank = *current_;
  FlagState& state = flags_[&flag];
  state.writer = rank.number;
  state.writes.push_back({value, rank.clock_ns});
  for (std::size_t index = 0; index < state.waiters.size();) {
    const auto [waiter, least] = state.waiters[index];
    if (value < least) {
      ++index;
      continue;
    }
    Rank& reader = ranks_[waiter];
    reader.clock_ns = std::max(reader.clock_ns, rank.clock_ns);
    later(reader);
    state.waiters[index] = state.waiters.back();
    state.waiters.pop_back();
  }
}

bool Clockwork::wait(const std::atomic<std::uint64_t>& flag, std::uint64_t least) {
  Rank& rank = *current_;
  const double came_ns = rank.clock_ns;
  if (flag.load(std::memory_order_relaxed) >= least) {
    take_turn(rank);
  } else {
    flags_[&flag].waiters.emplace_back(rank.number, least);
    Fiber::suspend();
    if (flag.load(std::memory_order_relaxed) < least) return false;
  }
  FlagState& state = flags_[&flag];
  const auto write = std::lower_bound(state.writes.begin(), state.writes.end(), least,
                                      [](const Write& each, std::uint64_t value) { return each.value < value; });
  if (write == state.writes.end()) return true;  // true from the beginning
  const bool has_waited = write->time_ns > rank.clock_ns || rank.clock_ns > came_ns;
  rank.clock_ns = std::max(rank.clock_ns, write->time_ns);
  state.seen.resize(machine_.core_count());
  std::uint32_t& seen_here = state.seen[rank.core];
  rank.flag_line = line_of(&flag);
  const auto number = static_cast<std::uint32_t>(write - state.writes.begin()) + 1;
  if (state.writer != rank.number && seen_here < number) {
    const double line = line_ns(distance(rank.number, state.writer));
    // A processor that has not waited asks ahead, for as long as the line takes.
    double asked_ns = rank.clock_ns;
    if (!has_waited) asked_ns = std::max(asks_ns(rank, line), write->time_ns);
    asked_ns = std::max(asked_ns, state.served_ns);
    state.served_ns = asked_ns + costs_.serve_ns;
    has_asked(rank, asked_ns);
    rank.clock_ns = std::max(rank.clock_ns, asked_ns + line);
    if (rank.is_measured && ranks_[state.writer].core != rank.core) moved_bytes_ += line_bytes;
    // With the line come all writes until then.
    const auto seen = std::upper_bound(write, state.writes.end(), asked_ns + line,
                                       [](double time_ns, const Write& each) { return time_ns < each.time_ns; });
    seen_here = std::max(number, static_cast<std::uint32_t>(seen - state.writes.begin()));
  }
  if (has_waited) rank.free_to_ask_ns = rank.clock_ns;
  if (!rank.is_measured) return true;
  rank.timeline.waited_ns += rank.clock_ns - came_ns;
  if (keeps_events) rank.timeline.events.push_back({Doing::wait, state.writer, came_ns, rank.clock_ns});
  return true;
}

// A processor has so many instructions under way that it asks for a line some work ahead of where it stands. While it
// waits for one it gets no further: with lines that take longer than that work, asking takes as many times longer.
double Clockwork::asks_ns(const Rank& rank, double line_ns) const {
  const double work_ns = rank.work_ns - rank.asked_work_ns;
  const double next_ns =
      rank.asked_ns + std::max(costs_.next_line_ns, work_ns * std::max(1.0, line_ns / costs_.ahead_ns));
  return std::max({std::min(next_ns, rank.clock_ns), rank.free_to_ask_ns, rank.clock_ns - line_ns});
}

// Of shared memory, who wrote it last: buffers change hands. Else the rank whose it is.
std::uint32_t Clockwork::owner(const void* address) const {
  const auto* const byte = static_cast<const char*>(address);
  if (is_shared(byte)) {
    const std::uint16_t writer = writers_[static_cast<std::size_t>(byte - shared_) / line_bytes];
    return writer == 0 ? current_->number : writer - 1u;
  }
  if (is_owned(byte)) return static_cast<std::uint32_t>(static_cast<std::size_t>(byte - owned_) / owned_each_bytes_);
  return current_->number;
}

bool Clockwork::is_near(const void* address, std::uint32_t writer) const {
  const std::uint32_t core = current_->core;
  if (ranks_[writer].core == core) return true;
  const auto* const byte = static_cast<const char*>(address);
  if (!is_shared(byte)) return false;
  const std::size_t line = static_cast<std::size_t>(byte - shared_) / line_bytes;
  return !cores_that_have_.empty() && (cores_that_have_[line] >> core & 1) != 0;
}

void Clockwork::has_read(const void* address, std::size_t bytes) {
  hold(holders_, address, bytes);
  const auto* const byte = static_cast<const char*>(address);
  if (!is_shared(byte) || bytes == 0 || cores_that_have_.empty()) return;
  const auto offset = static_cast<std::size_t>(byte - shared_);
  for (std::size_t line = offset / line_bytes; line <= (offset + bytes - 1) / line_bytes; ++line)
    cores_that_have_[line] |= std::uint64_t{1} << current_->core;
}

void Clockwork::hold(std::vector<std::uint16_t>& of_lines, const void* address, std::size_t bytes) {
  const auto* const byte = static_cast<const char*>(address);
  if (!is_shared(byte) || bytes == 0) return;
  const auto offset = static_cast<std::size_t>(byte - shared_);
  std::fill(of_lines.begin() + static_cast<std::ptrdiff_t>(offset / line_bytes),
            of_lines.begin() + static_cast<std::ptrdiff_t>((offset + bytes - 1) / line_bytes + 1),
            static_cast<std::uint16_t>(current_->number + 1));
}

std::size_t Clockwork::take_back(const void* address, std::size_t bytes, std::uint32_t& other) {
  const auto* const byte = static_cast<const char*>(address);
  if (!is_shared(byte) || bytes == 0) return 0;
  const std::uint16_t holder = holders_[static_cast<std::size_t>(byte - shared_) / line_bytes];
  hold(writers_, address, bytes);
  hold(holders_, address, bytes);
  if (!cores_that_have_.empty()) {
    const auto offset = static_cast<std::size_t>(byte - shared_);
    for (std::size_t line = offset / line_bytes; line <= (offset + bytes - 1) / line_bytes; ++line)
      cores_that_have_[line] = std::uint64_t{1} << current_->core;
  }
  if (holder == 0 || holder == current_->number + 1) return 0;
  if (other == current_->number) other = holder - 1u;
  return bytes;
}

std::size_t Clockwork::beyond_flag(const void* address, std::size_t bytes) const {
  if (bytes == 0 || line_of(address) != current_->flag_line) return bytes;
  const std::size_t with_flag = line_bytes - reinterpret_cast<std::uintptr_t>(address) % line_bytes;
  return bytes <= with_flag ? 0 : bytes - with_flag;
}

// What the caches hold of it comes at their rate, the rest at that of memory. Shared memory is gone through again and
// again, so they hold it.
void Clockwork::pass(Traffic& traffic, const void* address, std::size_t bytes) const {
  const double half = static_cast<double>(bytes) / 2;
  const bool is_again = is_shared(static_cast<const char*>(address));
  traffic.core_ns += half / (is_again ? costs_.copy_bytes_per_ns : costs_.copy_rate(cached_));
  traffic.beyond_bytes += is_again ? 0 : half * (1 - cached_.own);
}

void Clockwork::spend_on(const Traffic& traffic) {
  Rank& rank = *current_;
  take_turn(rank);
  const double from_ns = rank.clock_ns;
  const Distance far = distance(rank.number, traffic.other);
  const double line = line_ns(far);
  double until_ns = from_ns + (traffic.doing == Doing::reduce ? costs_.kernel_ns : 0);
  const double work_ns = until_ns - from_ns + (traffic.by_kernel ? 0 : traffic.core_ns);
  if (traffic.by_kernel) {
    const double read_bytes = traffic.bytes >= static_cast<double>(helped_bytes_) ? traffic.bytes / 2 : traffic.bytes;
    // Of a process's memory the kernel reads for one at a time.
    double& free_ns = ranks_[traffic.other].read_until_ns;
    until_ns = free_ns = std::max(until_ns, free_ns) + costs_.system_call_ns + read_bytes / costs_.system_bytes_per_ns;
  } else {
    until_ns += traffic.core_ns;
  }
  if (traffic.far_bytes > 0 && line > 0) {
    // The first line may have been asked for with the flag, if that was there; the rest come at once.
    const double asked_ns = asks_ns(rank, line);
    has_asked(rank, asked_ns);
    const double more = std::max(0.0, traffic.far_bytes / line_bytes - 1);
    until_ns = std::max(until_ns, asked_ns + line + more * line / costs_.lines_at_once);
  }
  // The first two lines are written behind what comes next.
  if (traffic.taken_bytes > 2 * line_bytes && line > 0)
    until_ns = std::max(until_ns, from_ns + traffic.taken_bytes / line_bytes * line / costs_.taken_at_once);
  double& package = package_free_ns_[machine_.package_of(rank.core)];
  // What the kernel reads for one rank lies in caches of another, too.
  const double moved_bytes = (traffic.by_kernel ? traffic.bytes : traffic.far_bytes) + traffic.taken_bytes;
  const double shared_bytes = traffic.beyond_bytes + moved_bytes;
  package = std::max(package, from_ns) + shared_bytes / costs_.package_bytes_per_ns;
  rank.clock_ns = std::max(until_ns, package);
  rank.work_ns += work_ns;
  if (rank.clock_ns - from_ns > line) rank.free_to_ask_ns = std::max(rank.free_to_ask_ns, rank.clock_ns - line);
  if (!rank.is_measured) return;
  if (traffic.other != rank.number) moved_bytes_ += static_cast<std::uint64_t>(moved_bytes);
  if (keeps_events) rank.timeline.events.push_back({traffic.doing, traffic.other, from_ns, rank.clock_ns});
}

void Clockwork::copied(void* to, const void* from, std::size_t bytes) {
  Traffic traffic{.doing = Doing::copy, .other = owner(from), .bytes = static_cast<double>(bytes)};
  pass(traffic, from, bytes);
  pass(traffic, to, bytes);
  traffic.by_kernel = is_owned(static_cast<const char*>(from)) && traffic.other != current_->number;
  if (traffic.other != current_->number && !traffic.by_kernel && !is_near(from, traffic.other))
    traffic.far_bytes = static_cast<double>(beyond_flag(from, bytes));
  has_read(from, bytes);
  traffic.taken_bytes = static_cast<double>(take_back(to, bytes, traffic.other));
  spend_on(traffic);
}

void Clockwork::crossed(double total_ns, double wire_ns) {
  Rank& rank = *current_;
  take_turn(rank);
  const double from_ns = rank.clock_ns;
  wire_free_ns_ = std::max(wire_free_ns_, from_ns) + wire_ns;
  rank.clock_ns = rank.free_to_ask_ns = wire_free_ns_ + total_ns - wire_ns;
  if (!rank.is_measured) return;
  rank.timeline.waited_ns += rank.clock_ns - from_ns;
  if (keeps_events) rank.timeline.events.push_back({Doing::wait, rank.number, from_ns, rank.clock_ns});
}

// A copy reads one row and writes one; a kernel reads `count`.
void Clockwork::reduced(const void* const* inputs, std::size_t count, const void* out, std::size_t bytes) {
  Traffic traffic{
      .doing = Doing::reduce, .other = current_->number, .bytes = static_cast<double>((count + 1) * bytes) / 2};
  pass(traffic, out, bytes);
  for (std::size_t index = 0; index < count; ++index) {
    pass(traffic, inputs[index], bytes);
    const std::uint32_t other = owner(inputs[index]);
    if (other == current_->number) continue;
    if (!is_near(inputs[index], other)) traffic.far_bytes += static_cast<double>(beyond_flag(inputs[index], bytes));
    has_read(inputs[index], bytes);
    if (distance(current_->number, other) >= distance(current_->number, traffic.other)) traffic.other = other;
  }
  traffic.taken_bytes = static_cast<double>(take_back(out, bytes, traffic.other));
  spend_on(traffic);
}

}  // namespace millrace::model
