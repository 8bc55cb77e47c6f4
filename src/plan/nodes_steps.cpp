#include "plan/nodes_steps.h"

#include <sys/mman.h>

#include <algorithm>
#include <numeric>

namespace millrace::plan {
namespace {

using collective::Across;
using collective::Blocking;
using collective::Data;
using collective::Kind;
using collective::Line;
using collective::Message;
using collective::Reducer;
using collective::Result;

// A second or so of walking.
constexpr std::uint64_t most_walked_bytes = std::uint64_t{1} << 37;

bool reduces(Kind kind) {
  return kind == Kind::reduce || kind == Kind::allreduce || kind == Kind::reduce_scatter || kind == Kind::scan ||
         kind == Kind::exscan;
}
bool has_blocks(Kind kind) {
  return kind == Kind::gather || kind == Kind::scatter || kind == Kind::allgather || kind == Kind::alltoall;
}

// Of a type that `bytes` are some elements of.
Reducer reducer_for(std::size_t bytes, bool in_rank_order) {
  Reducer reducer;
  reducer.in_rank_order = in_rank_order;
  reducer.element_bytes = bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 1;
  reducer.reduce2 = [](const void*, void*, std::size_t) {};
  reducer.reduce3 = [](const void*, const void*, void*, std::size_t) {};
  reducer.reduce_n = [](const void* const*, std::size_t, void*, std::size_t) {};
  return reducer;
}

// What one rank does, in order.
struct Seen {
  std::string_view name;
  bool crosses;
  std::size_t bytes;
};

class CountingHere final : public collective::Here {
 public:
  explicit CountingHere(std::vector<Seen>& seen) : seen_(seen) {}
  Result barrier() override { return note("barrier", 0); }
  Result bcast(void*, std::size_t bytes, std::uint32_t) override { return note("bcast", bytes); }
  Result reduce(const void*, void*, std::size_t elements, const Reducer& reducer, std::uint32_t) override {
    return note("reduce", elements * reducer.element_bytes);
  }
  Result reduce_scatter(const void*, void*, const Blocking& blocks, const Reducer& reducer) override {
    return note("reduce_scatter", blocks.elements() * reducer.element_bytes);
  }
  Result scan(const void*, void*, std::size_t elements, const Reducer& reducer, bool inclusive) override {
    return note(inclusive ? "scan" : "exscan", elements * reducer.element_bytes);
  }
  Result exchange(std::uint64_t, std::span<const Message> sends, std::span<const Message> receives) override {
    return note("messages", !sends.empty() ? sends[0].data.bytes : !receives.empty() ? receives[0].data.bytes : 0);
  }
  Result publish(std::uint64_t, const Data& own, std::span<const Data>, std::size_t) override {
    return note("allgather", own.bytes);
  }
  void fail(Result) override {}

 private:
  Result note(std::string_view name, std::size_t bytes) {
    seen_.push_back({name, false, bytes});
    return Result::ok;
  }

  std::vector<Seen>& seen_;
};

class CountingWire final : public collective::Wire {
 public:
  CountingWire(std::uint32_t nodes, std::uint32_t node, std::vector<Seen>& seen, NodesWalk& walk)
      : nodes_(nodes), node_(node), seen_(seen), walk_(walk) {}

  void begin(std::uint64_t) override {}
  void refuse() override {}
  Result barrier(Line) override { return note(Kind::barrier, 0, {0}, 0); }
  Result bcast(Line, void*, std::size_t bytes, std::uint32_t root) override {
    return note(Kind::bcast, root, {bytes}, bytes);
  }
  Result allreduce(Line, void*, std::size_t elements, const Reducer& reducer, std::span<char>) override {
    return note(Kind::allreduce, 0, {elements * reducer.element_bytes}, elements * reducer.element_bytes);
  }
  Result reduce(Line, const void*, void*, std::size_t elements, const Reducer& reducer, std::uint32_t root) override {
    return note(Kind::reduce, root, {elements * reducer.element_bytes}, elements * reducer.element_bytes);
  }
  Result reduce_scatter(Line, const void*, void*, std::span<const std::size_t> counts, const Reducer& reducer,
                        std::span<char>) override {
    std::vector<std::size_t> bytes(counts.begin(), counts.end());
    for (std::size_t& each : bytes) each *= reducer.element_bytes;
    const std::size_t all = std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
    return note(Kind::reduce_scatter, 0, std::move(bytes), all);
  }
  Result exscan(Line, void*, std::size_t elements, const Reducer& reducer) override {
    return note(Kind::exscan, 0, {elements * reducer.element_bytes}, elements * reducer.element_bytes);
  }
  Result allgather(Line, char*, std::span<const std::size_t> bytes) override {
    return note(Kind::allgather, 0, {bytes.begin(), bytes.end()}, bytes[node_]);
  }
  bool reaches(std::span<char* const>, std::size_t) const override { return true; }
  Result allgather_rows(Line, std::span<char* const>, std::size_t bytes) override {
    return note(Kind::allgather, 0, std::vector(nodes_, bytes), bytes);
  }
  Result gather(Line, char*, std::span<const std::size_t> bytes, std::uint32_t root) override {
    return note(Kind::gather, root, {bytes.begin(), bytes.end()}, bytes[node_]);
  }
  Result scatter(Line, char*, std::span<const std::size_t> bytes, std::uint32_t root) override {
    return note(Kind::scatter, root, {bytes.begin(), bytes.end()}, bytes[node_]);
  }
  Result alltoall(Line, const char*, char*, std::span<const std::size_t> bytes, std::size_t) override {
    const std::size_t most = *std::max_element(bytes.begin(), bytes.end());
    if (most == *std::min_element(bytes.begin(), bytes.end())) return note(Kind::alltoall, 0, {most}, most);
    return note(Kind::alltoall, node_, {bytes.begin(), bytes.end()}, most);
  }

 private:
  Result note(Kind kind, std::uint32_t root, std::vector<std::size_t> bytes, std::size_t shown_bytes) {
    seen_.push_back({collective::kind_name(kind), true, shown_bytes});
    WireCall call{kind, nodes_, root, std::move(bytes)};
    // Lines and pieces are mostly alike.
    for (auto& [known, times] : walk_.calls)
      if (known == call) {
        ++times;
        return Result::ok;
      }
    walk_.calls.emplace_back(std::move(call), 1);
    return Result::ok;
  }

  std::uint32_t nodes_, node_;
  std::vector<Seen>& seen_;
  NodesWalk& walk_;
};

// Memory that nobody has written to, so that it takes none.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
    void* const made =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memory_ = made == MAP_FAILED ? nullptr : made;
  }
  ~Buffer() {
    if (memory_) munmap(memory_, bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* get() const { return memory_; }

 private:
  std::size_t bytes_;
  void* memory_;
};

Result call_across(Across& across, Kind kind, std::size_t bytes, std::uint32_t root, const Reducer& reducer, void* in,
                   void* out) {
  const std::size_t elements = bytes / reducer.element_bytes;
  const std::uint32_t ranks = across.map().ranks();
  switch (kind) {
    case Kind::barrier: return across.barrier();
    case Kind::bcast: return across.bcast(out, bytes, root);
    case Kind::reduce: return across.reduce(in, out, elements, reducer, root);
    case Kind::allreduce: return across.allreduce(in, out, elements, reducer);
    case Kind::scan:
    case Kind::exscan: return across.scan(in, out, elements, reducer, kind == Kind::scan);
    case Kind::reduce_scatter: {
      std::vector<std::size_t> counts(ranks), begins(ranks);
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        counts[rank] = elements * (rank + 1) / ranks - elements * rank / ranks;
      return across.reduce_scatter(in, out, Blocking(counts, begins), reducer);
    }
    default: break;
  }
  // Their bytes are of no interest.
  const Data sent{bytes, nullptr, [](void*, std::size_t, std::size_t, void*) {}, nullptr},
      received{bytes, nullptr, nullptr, nullptr};
  const bool is_root = across.rank() == root;
  const std::size_t sends = kind == Kind::alltoall || (kind == Kind::scatter && is_root) ? ranks
                            : kind == Kind::scatter                                      ? 0
                                                                                         : 1;
  const std::size_t receives = kind == Kind::scatter ? 1 : kind != Kind::gather || is_root ? ranks : 0;
  const std::vector<Data> from(sends, sent), to(receives, received);
  return across.exchange_blocks(kind, bytes, from, to, root);
}

// What the ranks of a node do between two steps of the node, in all of which they take part, is one step.
class Merged {
 public:
  void add(const std::vector<Seen>& of_rank) {
    std::size_t steps_of_node = 0;
    std::uint32_t in_a_row = 0;
    for (const Seen& seen : of_rank) {
      const std::size_t place = seen.crosses ? 2 * steps_of_node : 2 * steps_of_node++ + 1;
      if (places_.size() <= place) places_.resize(place + 1);
      NodesStep& step = places_[place];
      // Who has nothing to send in it.
      const bool counts = seen.bytes != 0 && step.most_bytes != 0;
      step.least_bytes = counts ? std::min(step.least_bytes, seen.bytes) : std::max(step.least_bytes, seen.bytes);
      step.most_bytes = std::max(step.most_bytes, seen.bytes);
      step.name = seen.name;
      step.crosses = seen.crosses;
      in_a_row = seen.crosses ? in_a_row + 1 : 0;
      step.in_a_row = std::max(step.in_a_row, in_a_row);
      if (in_a_row < 2) ++step.ranks;
    }
  }

  // The shortest row of steps of which all of them are repetitions.
  void put_into(NodesWalk& walk) {
    std::erase_if(places_, [](const NodesStep& step) { return step.ranks == 0; });
    std::size_t period = 1;
    const auto repeats = [&] {
      if (places_.size() % period != 0) return false;
      for (std::size_t i = period; i < places_.size(); ++i) {
        const NodesStep &one = places_[i], &other = places_[i - period];
        if (one.name != other.name || one.crosses != other.crosses || one.ranks != other.ranks) return false;
      }
      return true;
    };
    while (period < places_.size() && !repeats()) ++period;
    if (places_.empty()) return;
    walk.pieces = places_.size() / period;
    walk.steps.assign(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(period));
    for (std::size_t i = 0; i < places_.size(); ++i) {
      NodesStep& step = walk.steps[i % period];
      step.least_bytes = std::min(step.least_bytes, places_[i].least_bytes);
      step.most_bytes = std::max(step.most_bytes, places_[i].most_bytes);
      step.in_a_row = std::max(step.in_a_row, places_[i].in_a_row);
      ++step.times;
    }
  }

 private:
  std::vector<NodesStep> places_;
};

}  // namespace

std::optional<NodesWalk> walk_over_nodes(std::span<const std::uint32_t> node_names, Kind kind, std::size_t bytes,
                                         std::uint32_t root, const Across::Limits& limits, bool in_rank_order) {
  collective::NodeMap known;
  if (!known.build(node_names)) return std::nullopt;
  const std::uint32_t node = known.node_of(root), places = known.places(node);
  const std::uint64_t copied = has_blocks(kind) ? std::uint64_t{known.ranks()} * places : places;
  if (bytes > most_walked_bytes / copied) return std::nullopt;
  const Buffer in(bytes), out(bytes);
  if (!in.get() || !out.get()) return std::nullopt;
  const Reducer reducer = reducer_for(bytes, in_rank_order);
  NodesWalk walk;
  Merged merged;
  for (std::uint32_t place = 0; place < places; ++place) {
    std::vector<Seen> seen;
    CountingHere here(seen);
    CountingWire wire(known.nodes(), node, seen, walk);
    collective::NodeMap map;
    Across across;
    if (!map.build(node_names) ||
        !across.open(std::move(map), known.rank_at(node, place), places > 1 ? &here : nullptr, wire, limits))
      return std::nullopt;
    walk.is_done = reduces(kind) ? across.reduces(kind, reducer) : across.moves(kind, bytes);
    if (!walk.is_done) return walk;
    if (call_across(across, kind, bytes, root, reducer, in.get(), out.get()) != Result::ok) return std::nullopt;
    merged.add(seen);
  }
  merged.put_into(walk);
  return walk;
}

WireCall call_of_host(Kind kind, std::uint32_t ranks, std::size_t bytes, std::uint32_t root) {
  WireCall call{kind, ranks, root, {bytes}};
  if (kind != Kind::reduce_scatter) return call;
  call.bytes.resize(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    call.bytes[rank] = bytes * (rank + 1) / ranks - bytes * rank / ranks;
  return call;
}

}  // namespace millrace::plan
