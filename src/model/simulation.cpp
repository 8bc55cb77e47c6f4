#include "model/simulation.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <queue>
#include <unordered_map>
#include <utility>

#include "base/fiber.h"
#include "collective/algorithms.h"
#include "collective/collective.h"
#include "collective/group.h"
#include "model/pages.h"

namespace millrace::model {
namespace {

using namespace collective;
using Element = std::int32_t;

constexpr std::size_t most_group_bytes = std::size_t{64} << 20;  // as in the preload (src/shim/node/node_group.cpp)
constexpr std::size_t most_buffer_bytes = std::size_t{4} << 30;  // of all ranks
constexpr std::uint32_t calls_before = 2;
constexpr std::size_t line_bytes = 64;

// So that each rank's is another.
Element contribution(std::uint32_t rank, std::size_t index) {
  return static_cast<Element>((std::size_t{rank} * 31 + index * 7) % 1009);
}

class Simulation final : public Observer {
 public:
  explicit Simulation(const Question& question)
      : question_(question),
        cores_(question.machine.core_count()),
        package_free_ns_(question.machine.packages),
        buffer_bytes_(question.bytes / sizeof(Element) * sizeof(Element)) {}
  ~Simulation() = default;
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  Answer run();

  void published(const std::atomic<std::uint64_t>& flag, std::uint64_t value) override;
  bool wait(const std::atomic<std::uint64_t>& flag, std::uint64_t least) override;
  void copied(void* to, const void* from, std::size_t bytes) override;
  void reduced(const void* const* inputs, std::size_t count, const void* out, std::size_t bytes);

 private:
  struct Rank {
    Simulation* simulation = nullptr;
    std::uint32_t number = 0;
    double clock_ns = 0;
    Fiber* fiber = nullptr;
    Result result = Result::ok;
    Group group;
    Timeline timeline;
  };
  struct Write {
    std::uint64_t value;
    double time_ns;
  };
  struct FlagState {
    std::uint32_t writer = 0;
    std::vector<Write> writes;
    std::vector<std::uint64_t> seen;                               // by each rank: so many writes
    std::vector<std::pair<std::uint32_t, std::uint64_t>> waiters;  // rank, least value
  };
  struct Core {
    double free_ns = 0;
    std::uint32_t last = ~0u;
  };

  bool prepare(Answer& answer);
  Result call(Rank& rank);
  void work(Rank& rank);
  void go_on(Rank& rank);
  void later(Rank& rank) { ready_.emplace(rank.clock_ns, rank.number); }
  // A rank that shares its core keeps it until it has to wait.
  void take_turn(Rank& rank) {
    if (question_.ranks > question_.machine.core_count()) return;
    later(rank);
    Fiber::suspend();
  }
  std::uint32_t core(std::uint32_t rank) const { return rank % question_.machine.core_count(); }
  Distance distance(std::uint32_t rank, std::uint32_t other) const {
    return question_.machine.between(core(rank), core(other));
  }
  double line_ns(Distance distance) const { return question_.costs.line_ns[static_cast<std::size_t>(distance)]; }
  std::uint32_t owner(const void* address) const;
  // This rank reads, or writes, what lies there. Of the latter, how much another rank has in its cache, and who.
  void hold(std::vector<std::uint16_t>& of_lines, const void* address, std::size_t bytes);
  std::size_t take_back(const void* address, std::size_t bytes, std::uint32_t& other);
  void spend(Rank& rank, Doing doing, std::uint32_t other, std::size_t moved_bytes, std::size_t far_bytes);
  bool is_measured() const { return rank_->group.calls() > first_measured_; }
  bool is_right() const;
  char* in(std::uint32_t rank) const { return buffers_.base() + std::size_t{2} * rank * stride_; }
  char* out(std::uint32_t rank) const { return in(rank) + stride_; }

  const Question& question_;
  GroupShape shape_;
  std::vector<Core> cores_;
  std::vector<double> package_free_ns_;
  std::size_t buffer_bytes_, stride_ = 0;
  Pages segment_, buffers_;
  // Of each line of the segment, rank + 1, or 0: who wrote it last, who read or wrote it last.
  std::vector<std::uint16_t> writers_, holders_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  Rank* rank_ = nullptr;  // that runs
  Reducer reducer_;
  std::unordered_map<const void*, FlagState> flags_;
  std::priority_queue<std::pair<double, std::uint32_t>, std::vector<std::pair<double, std::uint32_t>>, std::greater<>>
      ready_;
  std::uint64_t first_measured_ = ~std::uint64_t{0}, moved_bytes_ = 0;
  std::uint32_t meeting_ = 0;  // ranks that wait for all others outside any call
  double meeting_ns_ = 0;
};

// Kernels have no context; one simulation runs at a time in a thread.
thread_local Simulation* running = nullptr;
const Reducer& kernels() {
  static const Reducer sum = kernel_reducer(kernel::Op::sum, kernel::Type::i32);
  return sum;
}

void reduce2(const void* in, void* inout, std::size_t elements) {
  kernels().reduce2(in, inout, elements);
  const void* const inputs[] = {in, inout};
  running->reduced(inputs, 2, inout, elements * sizeof(Element));
}
void reduce3(const void* a, const void* b, void* out, std::size_t elements) {
  kernels().reduce3(a, b, out, elements);
  const void* const inputs[] = {a, b};
  running->reduced(inputs, 2, out, elements * sizeof(Element));
}
void reduce_n(const void* const* inputs, std::size_t count, void* out, std::size_t elements) {
  kernels().reduce_n(inputs, count, out, elements);
  running->reduced(inputs, count, out, elements * sizeof(Element));
}

bool Simulation::prepare(Answer& answer) {
  const auto fail = [&](const char* why) {
    answer.failure = why;
    return false;
  };
  if (!Fiber::can_switch()) return fail("this processor or kernel has no fibers of ours");
  if (question_.kind == Kind::barrier) buffer_bytes_ = 0;
  shape_ = shape_for(question_.ranks, most_group_bytes);
  if (shape_.ranks == 0) return fail("so many ranks do not share memory");
  stride_ = (buffer_bytes_ + page_bytes) / page_bytes * page_bytes;
  if (stride_ > most_buffer_bytes / 2 / question_.ranks)
    return fail("the buffers of all ranks take more than 4 GiB: fewer ranks or bytes");
  if (!segment_.map(segment_bytes(shape_)) || !buffers_.map(2 * stride_ * question_.ranks))
    return fail("no memory for the buffers of all ranks: fewer ranks or bytes");
  writers_.resize(segment_bytes(shape_) / line_bytes);
  holders_.resize(writers_.size());
  Options options;
  options.selection = &question_.selection;
  options.waiting = Waiting::sleep;
  options.crowded_node = question_.ranks > question_.machine.core_count();
  options.lets_write = false;
  for (std::uint32_t number = 0; number < question_.ranks; ++number) {
    Rank& rank = *ranks_.emplace_back(std::make_unique<Rank>());
    rank.simulation = this;
    rank.number = number;
    if (rank.group.join(segment_.base(), shape_, number, options) != Status::ok) return fail("no memory");
    // As if it were there.
    Member& self = rank.group.self();
    self.place = question_.machine.place(core(number));
    self.processors = {};
    const std::uint32_t bit = core(number) % shared_memory::most_processors;
    self.processors.mask[bit / 64] = std::uint64_t{1} << (bit % 64);
    auto* const elements = reinterpret_cast<Element*>(in(number));
    for (std::size_t index = 0; index < buffer_bytes_ / sizeof(Element); ++index)
      elements[index] = contribution(number, index);
  }
  for (const auto& rank : ranks_) {
    if (rank->group.start() != Result::ok) return fail("the ranks do not start");
    rank->group.observe(*this);
  }
  reducer_ = kernels();
  reducer_.reduce2 = reduce2;
  reducer_.reduce3 = reduce3;
  reducer_.reduce_n = reduce_n;
  return true;
}

Result Simulation::call(Rank& rank) {
  rank.clock_ns += question_.costs.call_ns;
  const std::size_t elements = buffer_bytes_ / sizeof(Element);
  switch (question_.kind) {
    case Kind::bcast: return bcast(rank.group, rank.number == 0 ? in(0) : out(rank.number), buffer_bytes_, 0);
    case Kind::reduce: return reduce(rank.group, in(rank.number), out(rank.number), elements, reducer_, 0);
    case Kind::allreduce: return allreduce(rank.group, in(rank.number), out(rank.number), elements, reducer_);
    default: return barrier(rank.group);
  }
}

void Simulation::work(Rank& rank) {
  for (std::uint32_t before = 0; before < calls_before && rank.result == Result::ok; ++before) rank.result = call(rank);
  // All begin the measured calls at once.
  meeting_ns_ = std::max(meeting_ns_, rank.clock_ns);
  if (++meeting_ < question_.ranks) {
    Fiber::suspend();
  } else {
    first_measured_ = rank.group.calls();
    for (const auto& other : ranks_) {
      other->clock_ns = meeting_ns_;
      if (other.get() != &rank) later(*other);
    }
    for (Core& each : cores_) each.free_ns = meeting_ns_;
    std::fill(package_free_ns_.begin(), package_free_ns_.end(), meeting_ns_);
  }
  rank.timeline.came_ns = rank.clock_ns;
  for (std::uint32_t number = 0; number < question_.calls && rank.result == Result::ok; ++number)
    rank.result = call(rank);
  rank.timeline.left_ns = rank.clock_ns;
}

void Simulation::go_on(Rank& rank) {
  // Who shares its core waits for it to be left.
  Core& own = cores_[core(rank.number)];
  rank.clock_ns = std::max(rank.clock_ns, own.free_ns);
  if (own.last != rank.number && own.last != ~0u) rank.clock_ns += question_.costs.switch_ns;
  own.last = rank.number;
  rank_ = &rank;
  if (rank.fiber->has_returned())
    rank.fiber->start(
        [](void* context) { static_cast<Rank*>(context)->simulation->work(*static_cast<Rank*>(context)); }, &rank);
  else
    rank.fiber->resume();
  own.free_ns = std::max(own.free_ns, rank.clock_ns);
}

void Simulation::published(const std::atomic<std::uint64_t>& flag, std::uint64_t value) {
  FlagState& state = flags_[&flag];
  state.writer = rank_->number;
  state.writes.push_back({value, rank_->clock_ns});
  for (std::size_t index = 0; index < state.waiters.size();) {
    const auto [waiter, least] = state.waiters[index];
    if (value < least) {
      ++index;
      continue;
    }
    Rank& reader = *ranks_[waiter];
    reader.clock_ns = std::max(reader.clock_ns, rank_->clock_ns);
    later(reader);
    state.waiters[index] = state.waiters.back();
    state.waiters.pop_back();
  }
}

bool Simulation::wait(const std::atomic<std::uint64_t>& flag, std::uint64_t least) {
  Rank& rank = *rank_;
  const double from_ns = rank.clock_ns;
  if (flag.load(std::memory_order_relaxed) >= least) {
    take_turn(rank);
  } else {
    flags_[&flag].waiters.emplace_back(rank.number, least);
    Fiber::suspend();
    if (flag.load(std::memory_order_relaxed) < least) return false;
  }
  FlagState& state = flags_[&flag];
  const auto write =
      std::find_if(state.writes.begin(), state.writes.end(), [&](const Write& each) { return each.value >= least; });
  if (write == state.writes.end()) return true;  // true from the beginning
  rank.clock_ns = std::max(rank.clock_ns, write->time_ns);
  state.seen.resize(question_.ranks);
  const auto number = static_cast<std::uint64_t>(write - state.writes.begin()) + 1;
  if (state.writer != rank.number && state.seen[rank.number] < number) {
    rank.clock_ns += line_ns(distance(rank.number, state.writer));
    if (is_measured()) moved_bytes_ += line_bytes;
    // With the line come all writes until then.
    std::uint64_t seen = number;
    while (seen < state.writes.size() && state.writes[seen].time_ns <= rank.clock_ns) ++seen;
    state.seen[rank.number] = seen;
  }
  if (!is_measured()) return true;
  rank.timeline.waited_ns += rank.clock_ns - from_ns;
  rank.timeline.events.push_back({Doing::wait, state.writer, from_ns, rank.clock_ns});
  return true;
}

// Of the segment, who wrote it last: buffers change hands. Else the rank whose buffer it is.
std::uint32_t Simulation::owner(const void* address) const {
  const auto* const byte = static_cast<const char*>(address);
  if (segment_.holds(byte)) {
    const auto offset = static_cast<std::size_t>(byte - segment_.base());
    const std::uint16_t writer = writers_[offset / line_bytes];
    return writer == 0 ? rank_->number : writer - 1u;
  }
  if (buffers_.holds(byte)) return static_cast<std::uint32_t>(byte - buffers_.base()) / (2 * stride_);
  return rank_->number;
}

void Simulation::hold(std::vector<std::uint16_t>& of_lines, const void* address, std::size_t bytes) {
  const auto* const byte = static_cast<const char*>(address);
  if (!segment_.holds(byte) || bytes == 0) return;
  const auto offset = static_cast<std::size_t>(byte - segment_.base());
  std::fill(of_lines.begin() + static_cast<std::ptrdiff_t>(offset / line_bytes),
            of_lines.begin() + static_cast<std::ptrdiff_t>((offset + bytes - 1) / line_bytes + 1),
            static_cast<std::uint16_t>(rank_->number + 1));
}

std::size_t Simulation::take_back(const void* address, std::size_t bytes, std::uint32_t& other) {
  const auto* const byte = static_cast<const char*>(address);
  if (!segment_.holds(byte) || bytes == 0) return 0;
  const std::uint16_t holder = holders_[static_cast<std::size_t>(byte - segment_.base()) / line_bytes];
  hold(writers_, address, bytes);
  hold(holders_, address, bytes);
  if (holder == 0 || holder == rank_->number + 1) return 0;
  if (other == rank_->number) other = holder - 1u;
  return bytes;
}

void Simulation::spend(Rank& rank, Doing doing, std::uint32_t other, std::size_t moved_bytes, std::size_t far_bytes) {
  take_turn(rank);
  const Costs& costs = question_.costs;
  const double from_ns = rank.clock_ns, bytes = static_cast<double>(moved_bytes);
  const double line = line_ns(distance(rank.number, other));
  // What lies in the line of a flag came with it.
  const double far = far_bytes <= question_.selection.inline_bytes ? 0 : static_cast<double>(far_bytes);
  const double lines_ns = far == 0 ? 0 : line + far / line_bytes * line / costs.lines_at_once;
  double& package = package_free_ns_[question_.machine.package_of(core(rank.number))];
  package = std::max(package, from_ns) + bytes / costs.package_bytes_per_ns;
  rank.clock_ns = std::max(from_ns + std::max(lines_ns, bytes / costs.copy_bytes_per_ns), package);
  if (!is_measured()) return;
  if (other != rank.number) moved_bytes_ += far_bytes;
  rank.timeline.events.push_back({doing, other, from_ns, rank.clock_ns});
}

void Simulation::copied(void* to, const void* from, std::size_t bytes) {
  std::uint32_t other = owner(from);
  const std::size_t far_bytes = other == rank_->number ? 0 : bytes;
  hold(holders_, from, bytes);
  const std::size_t back_bytes = take_back(to, bytes, other);
  spend(*rank_, Doing::copy, other, bytes, far_bytes + back_bytes);
}

// A copy reads one row and writes one; a kernel reads `count`.
void Simulation::reduced(const void* const* inputs, std::size_t count, const void* out, std::size_t bytes) {
  std::uint32_t farthest = rank_->number;
  std::size_t far_bytes = 0;
  for (std::size_t index = 0; index < count; ++index) {
    const std::uint32_t other = owner(inputs[index]);
    if (other == rank_->number) continue;
    far_bytes += bytes;
    hold(holders_, inputs[index], bytes);
    if (distance(rank_->number, other) >= distance(rank_->number, farthest)) farthest = other;
  }
  far_bytes += take_back(out, bytes, farthest);
  spend(*rank_, Doing::reduce, farthest, (count + 1) * bytes / 2, far_bytes);
}

bool Simulation::is_right() const {
  const std::size_t elements = buffer_bytes_ / sizeof(Element);
  std::vector<Element> expected(elements);
  for (std::uint32_t rank = 0; rank < (question_.kind == Kind::bcast ? 1 : question_.ranks); ++rank)
    for (std::size_t index = 0; index < elements; ++index) expected[index] += contribution(rank, index);
  for (std::uint32_t rank = 0; rank < question_.ranks; ++rank) {
    if (ranks_[rank]->group.broken() != Result::ok || !ranks_[rank]->fiber->has_returned()) return false;
    const bool has_result = question_.kind == Kind::allreduce || (question_.kind == Kind::reduce && rank == 0) ||
                            (question_.kind == Kind::bcast && rank != 0);
    if (has_result && elements != 0 && std::memcmp(out(rank), expected.data(), buffer_bytes_) != 0) return false;
  }
  return true;
}

Answer Simulation::run() {
  Answer answer;
  if (!prepare(answer)) return answer;
  running = this;
  for (const auto& rank : ranks_) {
    rank->fiber = Fiber::take();
    if (!rank->fiber) answer.failure = "no memory for the stacks of all ranks";
    later(*rank);
  }
  while (!ready_.empty() && answer.failure.empty()) {
    Rank& rank = *ranks_[ready_.top().second];
    ready_.pop();
    go_on(rank);
  }
  running = nullptr;
  for (const auto& rank : ranks_) {
    if (!rank->fiber) continue;
    if (!rank->fiber->has_returned() && answer.failure.empty()) answer.failure = "a rank waits for ever";
    // A stack that was left is lost with what stands on it.
    if (rank->fiber->has_returned()) rank->fiber->give_back();
    if (rank->result != Result::ok && answer.failure.empty()) answer.failure = result_name(rank->result);
  }
  answer.is_right = answer.failure.empty() && is_right();
  const Group& first = ranks_.front()->group;
  answer.algorithm = choose(question_.selection, question_.kind,
                            {buffer_bytes_, question_.ranks, shape_.cell_bytes, false, first.crowded()})
                         .name;
  for (const auto& rank : ranks_) {
    answer.call_ns = std::max(answer.call_ns, rank->timeline.left_ns - rank->timeline.came_ns);
    answer.ranks.push_back(std::move(rank->timeline));
  }
  answer.call_ns /= question_.calls;
  answer.moved_bytes = moved_bytes_;
  return answer;
}

}  // namespace

Answer simulate(const Question& question) {
  Question asked = question;
  asked.selection.choose_copies = false;  // by times that would not be those of the model
  return Simulation(asked).run();
}

}  // namespace millrace::model
