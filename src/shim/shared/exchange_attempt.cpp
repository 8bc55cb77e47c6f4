#include "shim/shared/exchange_attempt.h"

#include <algorithm>
#include <climits>
#include <optional>
#include <span>

#include "abi.h"
#include "base/log.h"
#include "collective/exchange.h"
#include "shim/bind/forward.h"
#include "shim/datatypes/datatypes.h"
#include "shim/datatypes/exchange_type.h"
#include "shim/datatypes/wire_types.h"
#include "shim/host/device_memory.h"
#include "shim/node/node_group.h"
#include "shim/shared/exchange_blocks.h"
#include "shim/shared/host_verdict.h"
#include "shim/shared/repeat.h"

namespace millrace::shim {
namespace {

using Blocks = ExchangeSide::Blocks;
using collective::Data;
using collective::Kind;
using collective::Message;
using collective::Result;
using record::Reason;

Kind kind_of(ExchangeKind kind) {
  switch (kind) {
    case ExchangeKind::gather: return Kind::gather;
    case ExchangeKind::scatter: return Kind::scatter;
    case ExchangeKind::allgather: return Kind::allgather;
    case ExchangeKind::alltoall: return Kind::alltoall;
    default: return Kind::neighbor;
  }
}

// What keeps this rank from doing its part; the program hears of it as of an error of the host.
Attempt report(int error) {
  log(LogLevel::error, error == abi::err_intern ? "no memory for the data of a collective"
                                                : "the host cannot pack or unpack the data of a collective");
  return failed(error).as_untold();
}

// The same, while others may be waiting for this rank.
Attempt break_off(const Communicator& communicator, int error) {
  failed_for_all(communicator.group->group(), error);
  return report(error);
}

constexpr std::size_t most_pairs_compared = 4096;
constexpr std::uint64_t repeats_label = ~std::uint64_t{0};  // no root

// From the first to the last byte of some rows.
struct Reach {
  std::uintptr_t first = ~std::uintptr_t{0}, end = 0;

  void add(const Data& data) {
    if (!data.row || data.bytes == 0) return;
    const auto address = reinterpret_cast<std::uintptr_t>(data.row);
    first = std::min(first, address);
    end = std::max(end, address + data.bytes);
  }
  bool meets(const Reach& other) const { return first < other.end && other.first < end; }
};

// Of a side whose blocks are alike; negative if its arguments are not valid. (No std::optional: shared_collectives.h.)
std::int64_t bytes_of_a_block(const ExchangeCall& call, const ExchangeSide& side) {
  const std::int64_t count = call.count(side, 0);
  if (count < 0 || call.is_in_place(side)) return -1;
  const Word datatype = call.datatype(side, 0);
  std::int64_t size_bytes = 0;
  const std::optional<WireType> known = may_have_layout(datatype) ? std::nullopt : wire_type(datatype);
  if (known && known->plain) {
    size_bytes = known->size_bytes;
  } else {
    const std::optional<ExchangeType> type = exchange_type(datatype);
    if (!type) return -1;
    size_bytes = type->size_bytes;
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(count, size_bytes, &bytes)) return -1;
  return bytes;
}

bool repeat_fits(const Repeat& repeat, Word from, Word to) noexcept {
  return repeat.blocks.list(from, to, *repeat.lists);
}

Attempt run_again(const Repeat& repeat, Word, Word) noexcept {
  const ExchangeBlocks& lists = *repeat.lists;
  return done(collective::exchange_blocks(
      *repeat.group, repeat.known, {repeat.known.entry->kind, repeat.bytes, lists.sent, lists.gathered, repeat.root}));
}

// Of neighbours: blocks that are alike, one behind the other. False: they meet, or cannot be touched.
bool neighbors_fit(const Repeat& repeat, Word from, Word to) noexcept try {
  ExchangeBlocks& lists = *repeat.lists;
  const Neighbors& neighbors = *lists.neighbors;
  const std::size_t sent_bytes = repeat.blocks.sent_bytes, received_bytes = repeat.blocks.received_bytes;
  const bool is_one = repeat.blocks.kind == ExchangeKind::neighbor_allgather;
  const Word from_end = from + sent_bytes * (is_one ? 1 : neighbors.destinations.size());
  const Word to_end = to + received_bytes * neighbors.sources.size();
  if (from == 0 || to == 0 || (from < to_end && to < from_end) || is_device_memory(from, to)) return false;
  const auto list = [](std::vector<Message>& messages, std::span<const int> peers, Word first, std::size_t bytes,
                       std::size_t step) {
    messages.clear();
    for (const int peer : peers) {
      if (peer != abi::proc_null)
        messages.push_back({static_cast<std::uint32_t>(peer), {bytes, as_pointer(first), nullptr, nullptr}});
      first += step;
    }
  };
  list(lists.sends, neighbors.destinations, from, sent_bytes, is_one ? 0 : sent_bytes);
  list(lists.receives, neighbors.sources, to, received_bytes, received_bytes);
  return true;
} catch (...) {  // no memory
  return false;
}

Attempt run_again_with_neighbors(const Repeat& repeat, Word, Word) noexcept {
  return done(collective::exchange(*repeat.group, Kind::neighbor, 0, repeat.lists->sends, repeat.lists->receives, 0));
}

// One call under way on one rank.
class ExchangeAttempt {
 public:
  ExchangeAttempt(Communicator& communicator, const ExchangeCall& call, ExchangeBlocks& blocks)
      : communicator_(communicator), call_(call), shape_(call.shape), blocks_(blocks) {}

  Attempt run(Repeat* repeat) {
    if (const Attempt answer = decide(repeat); answer.is_decided()) return answer;
    if (swaps_blocks_ && find_plain_blocks(repeat)) return done(swap_blocks());
    blocks_.clear();
    // The blocks of MPI_Neighbor_allgather are the same in whatever order they come.
    if (shape_.kind == ExchangeKind::neighbor_alltoall) {
      if (const Result told = tell_repeats(); told != Result::ok) return done(told);
      if (*blocks_.neighbors->repeats_anywhere) return refused(Reason::repeated_neighbors);
    }
    if (!(shape_.kind == ExchangeKind::allgather ? list_gathered() : list_messages()))
      return refused(Reason::invalid_argument);
    if (const int error = blocks_.pack(); error != 0) return break_off(communicator_, error);
    const bool rejected = will_be_rejected(), meets = !rejected && overlap();
    if (rejected)
      blocks_.discard_receives();
    else if (meets && !blocks_.copy_sends(own_))
      return break_off(communicator_, abi::err_intern);
    if (repeat && shape_.is_neighbor() && !rejected && !meets) repeat_neighbors(*repeat);
    const Result result = move();
    if (result != Result::ok && result != Result::truncated) return done(result);
    if (rejected) return refused(Reason::buffers_overlap);
    if (const int error = blocks_.unpack(); error != 0) return report(error);
    return done(result);
  }

 private:
  std::size_t ranks() const { return static_cast<std::size_t>(communicator_.ranks); }
  std::size_t rank() const { return static_cast<std::size_t>(communicator_.rank); }
  bool is_root() const { return communicator_.rank == root_; }

  // By what is equal on all ranks. What is left to the host gets here: nothing is built before.
  Attempt decide(Repeat* repeat) {
    if (shape_.is_rooted()) {
      root_ = call_.root();
      if (root_ < 0 || root_ >= communicator_.ranks) return refused(Reason::invalid_argument);
    }
    if (shape_.is_neighbor()) {
      if (!blocks_.neighbors) blocks_.neighbors = neighbors_of(communicator_.handle, communicator_.rank);
      if (!blocks_.neighbors->has_topology) return refused(Reason::invalid_argument);
    }
    in_place_ = is_in_place();
    // What is to be sent would be overwritten.
    if (in_place_ && shape_.kind == ExchangeKind::alltoall) return refused(Reason::buffers_overlap);
    plan::EitherCall call{.kind = kind_of(shape_.kind), .flavor = flavor()};
    if (shape_.is_rooted()) call.root = root_;
    if (!shape_.is_regular()) return whose_is(communicator_, call, false, shape_.is_neighbor() ? repeat : nullptr);
    const ExchangeSide& side = regular_side(call_, communicator_.rank);
    const std::int64_t bytes = bytes_of_a_block(call_, side);
    if (bytes < 0) return refused(Reason::invalid_argument);
    // Where a type is not compiled its size is known up to there only.
    if (bytes > INT_MAX) return refused(Reason::large_count);
    if (bytes == 0) return refused_nothing(false);
    call.bytes = bytes;
    block_bytes_ = static_cast<std::size_t>(bytes);
    const Attempt answer = whose_is(communicator_, call, !is_predefined(call_.datatype(side, 0)), repeat);
    if (answer.is_decided()) return answer;
    const collective::Group& group = communicator_.group->group();
    if (group.across()) {
      swaps_blocks_ = collective::exchanges_blocks(group, call.kind, block_bytes_);
    } else {
      known_ = collective::known_blocks(group, call.kind, block_bytes_, static_cast<std::uint32_t>(root_));
      swaps_blocks_ = known_.entry != nullptr;
    }
    return answer;
  }

  // Lists blocks that go by exchange_blocks(), if they are plain. False: nothing was done.
  bool find_plain_blocks(Repeat* repeat) {
    PlainBlocks plain{shape_.kind, in_place_, rank(), ranks(), static_cast<std::size_t>(root_)};
    if (plain.sends() && !is_plain(shape_.send, plain.sent_bytes)) return false;
    if (plain.receives() && !is_plain(shape_.receive, plain.received_bytes)) return false;
    if (!plain.list(call_.buffer(shape_.send), call_.buffer(shape_.receive), blocks_)) return false;
    if (repeat && !communicator_.group->group().across() && block_bytes_ <= Repeat::most_bytes &&
        (!plain.sends() || is_predefined(call_.datatype(shape_.send, 0))) &&
        (!plain.receives() || is_predefined(call_.datatype(shape_.receive, 0))))
      *repeat = {.fits = repeat_fits,
                 .run = run_again,
                 .asked = repeat->asked,
                 .group = &communicator_.group->group(),
                 .known = known_,
                 .root = static_cast<std::uint32_t>(root_),
                 .bytes = block_bytes_,
                 .blocks = plain,
                 .lists = &blocks_};
    return true;
  }

  // What is to be known for the next call with these words, if its blocks are alike and plain.
  void repeat_neighbors(Repeat& repeat) const {
    PlainBlocks plain{shape_.kind, false, rank(), ranks(), 0};
    if (communicator_.group->group().across() || shape_.has_arrays() ||
        !is_predefined(call_.datatype(shape_.send, 0)) || !is_predefined(call_.datatype(shape_.receive, 0)) ||
        !is_plain(shape_.send, plain.sent_bytes) || !is_plain(shape_.receive, plain.received_bytes))
      return;
    const std::size_t bytes = std::max(plain.sent_bytes, plain.received_bytes);
    if (bytes > Repeat::most_bytes) return;
    repeat = {.fits = neighbors_fit,
              .run = run_again_with_neighbors,
              .asked = repeat.asked,
              .group = &communicator_.group->group(),
              .bytes = bytes,
              .blocks = plain,
              .lists = &blocks_};
  }

  // Whether the elements of a side are all the bytes there are, in order; then `bytes` are those of a block.
  bool is_plain(const ExchangeSide& side, std::size_t& bytes) const {
    const Word datatype = call_.datatype(side, 0);
    if (may_have_layout(datatype)) return false;
    const std::optional<WireType> type = wire_type(datatype);
    const std::int64_t count = call_.count(side, 0);
    std::int64_t product = 0;
    if (!type || !type->plain || count <= 0 || __builtin_mul_overflow(count, type->size_bytes, &product)) return false;
    bytes = static_cast<std::size_t>(product);
    return product <= INT_MAX;
  }

  // Lists by rank, or of the one block of this rank.
  void sort_blocks() {
    const bool sends_one = shape_.kind == ExchangeKind::gather, receives_one = shape_.kind == ExchangeKind::scatter;
    by_rank(blocks_.sends, sends_one, blocks_.sent);
    by_rank(blocks_.receives, receives_one, blocks_.gathered);
  }
  void by_rank(const std::vector<Message>& messages, bool is_one, std::vector<Data>& blocks) const {
    blocks.assign(messages.empty() ? 0 : is_one ? 1 : ranks(), Data{});
    for (const Message& message : messages) blocks[is_one ? 0 : message.peer] = message.data;
  }

  Result swap_blocks() {
    collective::Group& group = communicator_.group->group();
    const collective::Blocks blocks{kind_of(shape_.kind), block_bytes_, blocks_.sent, blocks_.gathered,
                                    static_cast<std::uint32_t>(root_)};
    if (known_.entry) return collective::exchange_blocks(group, known_, blocks);
    return collective::exchange_blocks(group, blocks.kind, blocks.bytes, blocks.sent, blocks.received, blocks.root);
  }

  // Of the calls that are one kind.
  std::uint8_t flavor() const {
    return static_cast<std::uint8_t>(static_cast<int>(shape_.kind) * 2 + (shape_.send.own_types ? 1 : 0));
  }

  // In the first such call on the communicator: no rank knows all others' neighbours.
  Result tell_repeats() {
    Neighbors& neighbors = *blocks_.neighbors;
    if (neighbors.repeats_anywhere) [[likely]]
      return Result::ok;
    std::vector<char> flags(ranks());
    std::vector<Data> places(ranks());
    for (std::size_t i = 0; i < ranks(); ++i) places[i] = {1, &flags[i], nullptr, nullptr};
    char own = neighbors.repeats ? 1 : 0;
    const Result told = collective::publish(communicator_.group->group(), Kind::neighbor, repeats_label,
                                            {1, &own, nullptr, nullptr}, places);
    if (told == Result::ok) neighbors.repeats_anywhere = std::find(flags.begin(), flags.end(), 1) != flags.end();
    return told;
  }

  bool is_in_place() const {
    switch (shape_.kind) {
      case ExchangeKind::gather: return is_root() && call_.is_in_place(shape_.send);
      case ExchangeKind::scatter: return is_root() && call_.is_in_place(shape_.receive);
      case ExchangeKind::allgather:
      case ExchangeKind::alltoall: return call_.is_in_place(shape_.send);
      default: return false;
    }
  }

  // Everybody's one block to everybody.
  bool list_gathered() {
    if (!in_place_ && (!blocks_.open(call_, shape_.send, true) || !blocks_.find(0, own_))) return false;
    if (!blocks_.open(call_, shape_.receive, in_place_)) return false;
    if (in_place_) {  // to be read from where it is
      if (!blocks_.find(rank(), own_) || !blocks_.open(call_, shape_.receive, false)) return false;
    }
    blocks_.gathered.resize(ranks());
    for (std::size_t i = 0; i < ranks(); ++i) {
      Data& data = blocks_.gathered[i];
      if (in_place_ && i == rank())
        data.bytes = own_.bytes;
      else if (!blocks_.find(i, data))
        return false;
    }
    Data& same = blocks_.gathered[rank()];
    own_aliased_ = !in_place_ && own_.bytes != 0 && ExchangeBlocks::same_place(own_, same);
    if (own_aliased_) same = {same.bytes, nullptr, nullptr, nullptr};  // wrong by the standard, works with some hosts
    return true;
  }

  bool list_messages() {
    const bool sends = shape_.kind != ExchangeKind::scatter || is_root();
    const bool receives = shape_.kind != ExchangeKind::gather || is_root();
    // In place: the root's own block is where it is to be.
    const bool sends_own = !(in_place_ && shape_.kind == ExchangeKind::scatter);
    const bool receives_own = !(in_place_ && shape_.kind == ExchangeKind::gather);
    if (sends && receives_own &&
        !(blocks_.open(call_, shape_.send, true) && list(shape_.send, sends_own, blocks_.sends)))
      return false;
    if (receives && sends_own &&
        !(blocks_.open(call_, shape_.receive, false) && list(shape_.receive, receives_own, blocks_.receives)))
      return false;
    look_at_own_message();
    return true;
  }

  // The messages of a side that is open.
  bool list(const ExchangeSide& side, bool own, std::vector<Message>& messages) {
    if (shape_.is_neighbor()) return list_neighbors(side, messages);
    if (side.blocks == Blocks::one) return add(0, root_, messages);
    for (std::size_t i = 0; i < ranks(); ++i)
      if ((own || i != rank()) && !add(i, static_cast<int>(i), messages)) return false;
    return true;
  }

  bool list_neighbors(const ExchangeSide& side, std::vector<Message>& messages) {
    Neighbors& neighbors = *blocks_.neighbors;
    if (&side == &shape_.receive) {
      for (std::size_t i = 0; i < neighbors.sources.size(); ++i)
        if (!add(i, neighbors.sources[i], messages)) return false;
      return true;
    }
    for (std::size_t i = 0; i < neighbors.destinations.size(); ++i)
      if (!add(side.blocks == Blocks::one ? 0 : i, neighbors.destinations[i], messages)) return false;
    return true;
  }

  bool add(std::size_t block, int peer, std::vector<Message>& messages) {
    if (peer == abi::proc_null) return true;
    Data data;
    if (!blocks_.find(block, data)) return false;
    if (data.bytes != 0) messages.push_back({static_cast<std::uint32_t>(peer), data});
    return true;
  }

  // A message of this rank to itself that is where it is to be (wrong by the standard, works with some hosts) is left
  // out.
  void look_at_own_message() {
    if (shape_.is_neighbor()) return;
    const auto to_itself = [this](const Message& message) { return message.peer == rank(); };
    const auto sent = std::find_if(blocks_.sends.begin(), blocks_.sends.end(), to_itself);
    const auto received = std::find_if(blocks_.receives.begin(), blocks_.receives.end(), to_itself);
    const std::size_t sent_bytes = sent == blocks_.sends.end() ? 0 : sent->data.bytes;
    const std::size_t received_bytes = received == blocks_.receives.end() ? 0 : received->data.bytes;
    own_differs_ = sent_bytes != received_bytes;
    if (sent_bytes == 0 || received_bytes == 0 || !ExchangeBlocks::same_place(sent->data, received->data)) return;
    own_aliased_ = true;
    if (own_differs_) return;
    blocks_.sends.erase(sent);
    blocks_.receives.erase(received);
  }

  // Whether the host will answer with an error, without a word to other ranks.
  bool will_be_rejected() const {
    const bool alltoall = shape_.kind == ExchangeKind::alltoall;
    const bool aliased = alltoall ? call_.same_arguments(&ExchangeSide::buffer) : own_aliased_;
    if (aliased && !own_differs_) return host_rejects_alias(call_);
    return alltoall && own_differs_ && host_compares_own_blocks(call_);
  }

  // Whether something may be received where something is sent from: rows as a whole, and layouts that are the same.
  bool overlap() const {
    Reach from, to;
    if (shape_.kind == ExchangeKind::allgather) {
      if (in_place_ || own_aliased_) return false;  // where no other block is
      from.add(own_);
      reach(blocks_.gathered, to);
      return from.meets(to) || (!own_.row && call_.same_arguments(&ExchangeSide::buffer));
    }
    if (blocks_.sends.empty() || blocks_.receives.empty()) return false;
    if (call_.same_arguments(&ExchangeSide::buffer) &&
        ExchangeBlocks::same_place(blocks_.sends.front().data, blocks_.receives.front().data))
      return true;
    reach(blocks_.sends, from), reach(blocks_.receives, to);
    return from.meets(to) && (shape_.is_regular() || rows_meet());
  }

  static const Data& data_of(const Data& data) { return data; }
  static const Data& data_of(const Message& message) { return message.data; }

  template <class Blocks>
  void reach(const Blocks& blocks, Reach& reach) const {
    if (shape_.is_regular()) {  // one behind the other
      reach.add(data_of(blocks.front())), reach.add(data_of(blocks.back()));
    } else {
      for (const auto& block : blocks) reach.add(data_of(block));
    }
  }

  // Those of a grid's edges lie between each other. Of very many it is taken for granted.
  bool rows_meet() const {
    if (blocks_.sends.size() * blocks_.receives.size() > most_pairs_compared) return true;
    for (const Message& sent : blocks_.sends)
      for (const Message& received : blocks_.receives) {
        Reach from, to;
        from.add(sent.data), to.add(received.data);
        if (from.meets(to)) return true;
      }
    return false;
  }

  // What all ranks know to be the size of each block; else 0.
  std::size_t agreed_bytes() const { return shape_.is_neighbor() ? 0 : block_bytes_; }

  Result move() {
    collective::Group& group = communicator_.group->group();
    const Kind kind = kind_of(shape_.kind);
    const auto label = static_cast<std::uint64_t>(root_);  // each message says how long it is
    if (swaps_blocks_) {
      if (shape_.kind == ExchangeKind::allgather)
        blocks_.sent.assign(1, own_);
      else
        sort_blocks();
      return swap_blocks();
    }
    if (shape_.kind == ExchangeKind::allgather)
      return collective::publish(group, kind, label, own_, blocks_.gathered, agreed_bytes());
    return collective::exchange(group, kind, label, blocks_.sends, blocks_.receives, agreed_bytes());
  }

  Communicator& communicator_;
  const ExchangeCall& call_;
  const ExchangeShape& shape_;
  ExchangeBlocks& blocks_;
  int root_ = 0;
  bool in_place_ = false;
  bool swaps_blocks_ = false;    // goes by exchange_blocks(), and
  collective::KnownCall known_;  // inside a node is this
  std::size_t block_bytes_ = 0;
  bool own_aliased_ = false;  // what this rank sends itself is received where it is
  bool own_differs_ = false;  // ... and has another size at its two ends
  Data own_;
};

}  // namespace

bool waits_for_all(const ExchangeCall& call, int rank) noexcept try {
  const ExchangeShape& shape = call.shape;
  if (shape.kind != ExchangeKind::allgather && shape.kind != ExchangeKind::alltoall) return false;
  return shape.is_regular() && bytes_of_a_block(call, regular_side(call, rank)) > 0;
} catch (...) {  // no memory: this rank does not know what the others do
  return false;
}

Attempt attempt_exchange(Communicator& communicator, const ExchangeCall& call,
                         std::unique_ptr<KeptWithCommunicator>& kept, Repeat* repeat) noexcept {
  try {
    if (!kept) kept = std::make_unique<ExchangeBlocks>();
    return ExchangeAttempt(communicator, call, static_cast<ExchangeBlocks&>(*kept)).run(repeat);
  } catch (...) {
    return break_off(communicator, abi::err_intern);
  }
}

}  // namespace millrace::shim
