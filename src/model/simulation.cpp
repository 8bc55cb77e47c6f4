#include "model/simulation.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collective/across/across.h"
#include "collective/algorithms.h"
#include "collective/collective.h"
#include "collective/group.h"
#include "model/block_call.h"
#include "model/contributions.h"
#include "model/nodes.h"
#include "model/pages.h"

namespace millrace::model {
namespace {

using namespace collective;

constexpr std::size_t most_group_bytes = std::size_t{64} << 20;    // as in the preload (src/shim/node/node_group.cpp)
constexpr std::size_t most_buffer_bytes = std::size_t{256} << 30;  // of all ranks: addresses, not memory
constexpr std::uint32_t calls_before = 2;

class Simulation final : public Observer {
 public:
  explicit Simulation(const Question& question)
      : question_(question),
        contributions_(question.kind, question.ranks, question.nodes, question.bytes),
        bytes_(contributions_.bytes()),
        buffer_bytes_(contributions_.buffer_bytes()),
        moves_(buffer_bytes_ * question.ranks < least_unmoved_bytes),
        clockwork_(question.machine, question.costs, question.ranks, 2 * static_cast<double>(buffer_bytes_)) {
    clockwork_.keeps_events = question.keeps_events;
  }
  ~Simulation() = default;
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  Answer run();

  void published(const std::atomic<std::uint64_t>& flag, std::uint64_t value) override {
    clockwork_.published(flag, value);
  }
  bool wait(const std::atomic<std::uint64_t>& flag, std::uint64_t least) override {
    return clockwork_.wait(flag, least);
  }
  bool copies(void* to, const void* from, std::size_t bytes) override {
    clockwork_.copied(to, from, bytes);
    return moves_;
  }
  bool reduces(const void* const* inputs, std::size_t count, const void* out, std::size_t elements) {
    clockwork_.reduced(inputs, count, out, elements * sizeof(Element));
    return moves_;
  }

 private:
  struct Rank {
    Group group;
    Result result = Result::ok;
    BlockCall blocks;
    // Over several nodes.
    std::optional<ModelHere> here;
    std::optional<ModelWire> wire;
    Across across;
  };

  bool prepare(Answer& answer);
  const char* spread_over_nodes();
  void come_from_nodes(Kind kind, void* data, std::size_t bytes) const;
  Result call_over_nodes(Rank& rank, std::uint32_t number);
  Result call(std::uint32_t number);
  void work(std::uint32_t number);
  bool is_right();
  char* in(std::uint32_t rank) const { return buffers_.base() + std::size_t{2} * rank * stride_; }
  char* out(std::uint32_t rank) const { return in(rank) + stride_; }

  const Question& question_;
  Contributions contributions_;
  const std::size_t bytes_, buffer_bytes_;  // of a block, or all that a rank sends; of its buffers
  const bool moves_;
  GroupShape shape_;
  std::size_t stride_ = 0;
  Pages segment_, buffers_;
  Clockwork clockwork_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  Reducer reducer_;
};

// Kernels have no context; one simulation runs at a time in a thread.
thread_local Simulation* running = nullptr;
const Reducer& kernels() {
  static const Reducer sum = kernel_reducer(kernel::Op::sum, kernel::Type::i32);
  return sum;
}

void reduce2(const void* in, void* inout, std::size_t elements) {
  const void* const inputs[] = {in, inout};
  if (running->reduces(inputs, 2, inout, elements)) kernels().reduce2(in, inout, elements);
}
void reduce3(const void* a, const void* b, void* out, std::size_t elements) {
  const void* const inputs[] = {a, b};
  if (running->reduces(inputs, 2, out, elements)) kernels().reduce3(a, b, out, elements);
}
void reduce_n(const void* const* inputs, std::size_t count, void* out, std::size_t elements) {
  if (running->reduces(inputs, count, out, elements)) kernels().reduce_n(inputs, count, out, elements);
}
void copy_row(void* to, const void* from, std::size_t bytes) {
  if (running->copies(to, from, bytes)) std::memcpy(to, from, bytes);
}

bool Simulation::prepare(Answer& answer) {
  const auto fail = [&](const char* why) {
    answer.failure = why;
    return false;
  };
  if (!Fiber::can_switch()) return fail("this processor or kernel has no fibers of ours");
  shape_ = shape_for(question_.ranks, most_group_bytes);
  if (shape_.ranks == 0) return fail("so many ranks do not share memory");
  stride_ = (buffer_bytes_ + page_bytes) / page_bytes * page_bytes;
  if (stride_ > most_buffer_bytes / 2 / question_.ranks)
    return fail("the buffers of all ranks take more than 256 GiB: fewer ranks or bytes");
  if (!segment_.map(segment_bytes(shape_)) || !buffers_.map(2 * stride_ * question_.ranks))
    return fail("no memory for the buffers of all ranks: fewer ranks or bytes");
  clockwork_.share(segment_.base(), segment_bytes(shape_));
  // Of a large row the one rank that reads it does half, its owner the rest (collective/shared_row.h).
  const bool helps = question_.ranks == 2 && question_.machine.core_count() > 1;
  clockwork_.own(buffers_.base(), 2 * stride_, helps ? question_.selection.shared_row_bytes : ~std::size_t{0});
  Options options;
  options.selection = &question_.selection;
  options.waiting = Waiting::sleep;
  options.crowded_node = question_.ranks > question_.machine.core_count();
  options.lets_write = false;
  for (std::uint32_t number = 0; number < question_.ranks; ++number) {
    Rank& rank = *ranks_.emplace_back(std::make_unique<Rank>());
    if (rank.group.join(segment_.base(), shape_, number, options) != Status::ok) return fail("no memory");
    // As if it were there.
    const std::uint32_t core = number % question_.machine.core_count();
    Member& self = rank.group.self();
    self.place = question_.machine.place(core);
    self.processors = {};
    const std::uint32_t bit = core % shared_memory::most_processors;
    self.processors.mask[bit / 64] = std::uint64_t{1} << (bit % 64);
    if (moves_) contributions_.fill(number, reinterpret_cast<Element*>(in(number)));
  }
  for (const auto& rank : ranks_) {
    if (rank->group.start() != Result::ok) return fail("the ranks do not start");
    rank->group.observe(*this);
    const std::uint32_t number = rank->group.rank();
    if (!moves_blocks(question_.kind)) continue;
    if (!BlockCall::is_modelled(rank->group, question_.kind, bytes_))
      return fail("blocks of so many bytes go through mailboxes, which the model does not have");
    rank->blocks.prepare(rank->group, question_.kind, bytes_, in(number), out(number), copy_row);
  }
  reducer_ = kernels();
  reducer_.any_order = question_.any_order;
  reducer_.reduce2 = reduce2;
  reducer_.reduce3 = reduce3;
  reducer_.reduce_n = reduce_n;
  if (question_.nodes > 1)
    if (const char* const failure = spread_over_nodes(); *failure != 0) return fail(failure);
  return true;
}

// The node that is run is the first, with the root; or, of a Bcast, the last, for what crosses comes to that.
const char* Simulation::spread_over_nodes() {
  if (question_.ranks > question_.machine.core_count()) return "over several nodes each rank needs a core";
  if (question_.kind > Kind::allreduce) return "over several nodes there are barrier, bcast, reduce and allreduce";
  std::vector<std::uint32_t> names(std::size_t{question_.nodes} * question_.ranks);
  for (std::size_t rank = 0; rank < names.size(); ++rank)
    names[rank] = static_cast<std::uint32_t>(rank / question_.ranks);
  const std::uint32_t node = question_.kind == Kind::bcast ? question_.nodes - 1 : 0;
  for (std::uint32_t number = 0; number < question_.ranks; ++number) {
    Rank& rank = *ranks_[number];
    rank.here.emplace(rank.group, clockwork_, question_.costs);
    rank.wire.emplace(clockwork_, question_.nodes, question_.wire, question_.costs.copy_bytes_per_ns,
                      [this](Kind kind, void* data, std::size_t bytes) { come_from_nodes(kind, data, bytes); });
    NodeMap map;
    if (!map.build(names) ||
        !rank.across.open(std::move(map), node * question_.ranks + number, question_.ranks > 1 ? &*rank.here : nullptr,
                          *rank.wire, Across::limits_of(shape_)))
      return "no memory for so many ranks on so many nodes";
  }
  if (!ranks_.front()->across.reduces(question_.kind, reducer_)) return "calls of so many ranks are left to the host";
  return "";
}

// All nodes have the same.
void Simulation::come_from_nodes(Kind kind, void* data, std::size_t bytes) const {
  if (!moves_) return;
  auto* const elements = static_cast<Element*>(data);
  const std::size_t first = kind == Kind::bcast ? static_cast<std::size_t>(static_cast<char*>(data) - out(0)) : 0;
  for (std::size_t index = 0; index < bytes / sizeof(Element); ++index)
    elements[index] = kind == Kind::bcast ? contribution(0, first / sizeof(Element) + index)
                                          : elements[index] * static_cast<Element>(question_.nodes);
}

Result Simulation::call_over_nodes(Rank& rank, std::uint32_t number) {
  const std::size_t elements = contributions_.elements();
  switch (question_.kind) {
    case Kind::bcast: return rank.across.bcast(out(number), bytes_, 0);
    case Kind::reduce: return rank.across.reduce(in(number), out(number), elements, reducer_, 0);
    case Kind::allreduce: return rank.across.allreduce(in(number), out(number), elements, reducer_);
    default: return rank.across.barrier();
  }
}

Result Simulation::call(std::uint32_t number) {
  clockwork_.spend(question_.costs.call_ns);
  if (question_.nodes > 1) return call_over_nodes(*ranks_[number], number);
  Rank& rank = *ranks_[number];
  Group& group = rank.group;
  const std::size_t elements = contributions_.elements();
  switch (question_.kind) {
    case Kind::bcast: return bcast(group, number == 0 ? in(0) : out(number), bytes_, 0);
    case Kind::reduce: return reduce(group, in(number), out(number), elements, reducer_, 0);
    case Kind::allreduce: return allreduce(group, in(number), out(number), elements, reducer_);
    case Kind::reduce_scatter:
      return reduce_scatter(group, in(number), out(number), Blocking(elements, question_.ranks), reducer_);
    case Kind::scan: return scan(group, in(number), out(number), elements, reducer_);
    case Kind::exscan: return exscan(group, in(number), out(number), elements, reducer_);
    case Kind::barrier: return barrier(group);
    default: return rank.blocks.run(group);
  }
}

void Simulation::work(std::uint32_t number) {
  Result& result = ranks_[number]->result;
  for (std::uint32_t before = 0; before < calls_before && result == Result::ok; ++before) result = call(number);
  clockwork_.begin_measured();
  for (std::uint32_t each = 0; each < question_.calls && result == Result::ok; ++each) result = call(number);
  clockwork_.end_measured();
}

bool Simulation::is_right() {
  for (std::uint32_t rank = 0; rank < question_.ranks; ++rank) {
    if (ranks_[rank]->group.broken() != Result::ok || !clockwork_.has_returned(rank)) return false;
    if (moves_ && !contributions_.are_right(rank, reinterpret_cast<const Element*>(out(rank)))) return false;
  }
  return true;
}

Answer Simulation::run() {
  Answer answer;
  if (!prepare(answer)) return answer;
  running = this;
  answer.failure = clockwork_.run([this](std::uint32_t number) { work(number); });
  running = nullptr;
  for (const auto& rank : ranks_)
    if (rank->result != Result::ok && answer.failure.empty()) answer.failure = result_name(rank->result);
  answer.is_checked = moves_;
  answer.is_right = answer.failure.empty() && is_right();
  const Group& first = ranks_.front()->group;
  answer.algorithm = choose(question_.selection, question_.kind,
                            {.bytes = moves_blocks(question_.kind) ? bytes_ : buffer_bytes_,
                             .ranks = question_.ranks,
                             .cell_bytes = shape_.cell_bytes,
                             .crowded = first.crowded(),
                             .slot_bytes = shape_.slot_bytes,
                             .any_order = question_.any_order,
                             .element_bytes = sizeof(Element),
                             .block_bytes = question_.kind == Kind::reduce_scatter ? bytes_ : 0})
                         .name;
  if (question_.nodes > 1) answer.algorithm = "nodes";
  answer.ranks = clockwork_.take_timelines();
  for (const Timeline& rank : answer.ranks) answer.call_ns = std::max(answer.call_ns, rank.left_ns - rank.came_ns);
  answer.call_ns /= question_.calls;
  answer.moved_bytes = clockwork_.moved_bytes();
  return answer;
}

}  // namespace

Answer simulate(const Question& question) {
  Question asked = question;
  asked.selection.choose_copies = false;  // by times that would not be those of the model
  if (asked.nodes > 1) asked.selection.publish_single_copy_bytes = ~0u;  // ModelHere reckons with copies by cores
  return Simulation(asked).run();
}

}  // namespace millrace::model
