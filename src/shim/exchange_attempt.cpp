#include "shim/exchange_attempt.h"

#include <algorithm>
#include <climits>

#include "abi.h"
#include "base/log.h"
#include "collective/exchange.h"
#include "shim/exchange_blocks.h"
#include "shim/forward.h"
#include "shim/node_group.h"

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
Attempt report(const Communicator& communicator, int error) {
  log(LogLevel::error, error == abi::err_intern ? "no memory for the data of a collective"
                                                : "the host cannot pack or unpack the data of a collective");
  host<Symbol::MPI_Comm_call_errhandler>(communicator.handle, as_word(error));
  return failed(error);
}

// The same, while others may be waiting for this rank.
Attempt break_off(const Communicator& communicator, int error) {
  report(communicator, error);
  return failed_for_all(communicator.group->group(), error);
}

// One call under way on one rank.
class Exchange {
 public:
  Exchange(Communicator& communicator, const ExchangeCall& call, ExchangeBlocks& blocks)
      : communicator_(communicator), call_(call), shape_(call.shape), blocks_(blocks) {}

  Attempt run() {
    if (const Reason reason = decide(); reason != Reason::none) return refused(reason);
    if (!(shape_.kind == ExchangeKind::allgather ? list_gathered() : list_messages()))
      return refused(Reason::invalid_argument);
    if (const int error = blocks_.pack(); error != 0) return break_off(communicator_, error);
    const Result result = move();
    if (result != Result::ok) return done(result);
    if (const int error = blocks_.unpack(); error != 0) return report(communicator_, error);
    return done(Result::ok);
  }

 private:
  std::size_t ranks() const { return static_cast<std::size_t>(communicator_.ranks); }
  std::size_t rank() const { return static_cast<std::size_t>(communicator_.rank); }
  bool is_root() const { return communicator_.rank == root_; }

  // By what is equal on all ranks.
  Reason decide() {
    blocks_.clear();
    if (shape_.is_rooted()) {
      root_ = call_.root();
      if (root_ < 0 || root_ >= communicator_.ranks) return Reason::invalid_argument;
    }
    if (shape_.is_neighbor()) {
      if (!blocks_.neighbors) blocks_.neighbors = neighbors_of(communicator_.handle, communicator_.rank);
      if (!blocks_.neighbors->has_topology) return Reason::invalid_argument;
    }
    in_place_ = is_in_place();
    // What is to be sent would be overwritten.
    if (in_place_ && shape_.kind == ExchangeKind::alltoall) return Reason::buffers_overlap;
    if (!shape_.is_regular()) {
      if (exchange_left_to_host(communicator_, kind_of(shape_.kind), std::nullopt)) return Reason::host_is_faster;
      if (shape_.kind == ExchangeKind::neighbor_alltoall)
        arrival_ = &arrival_order(communicator_, *blocks_.neighbors, shape_);
      return Reason::none;
    }
    const bool outgoing = &regular_side(call_, communicator_.rank) == &shape_.send;
    if (!blocks_.open(call_, outgoing ? shape_.send : shape_.receive, outgoing)) return Reason::invalid_argument;
    bytes_ = blocks_.block_bytes();
    // Where a type is not compiled its size is known up to there only.
    if (bytes_ > INT_MAX) return Reason::large_count;
    if (bytes_ == 0) return Reason::host_is_faster;  // nothing to do there either
    return exchange_left_to_host(communicator_, kind_of(shape_.kind), bytes_) ? Reason::host_is_faster : Reason::none;
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
    if (same.row && same.row == own_.row) same.row = nullptr;  // wrong by the standard, and works with hosts
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
    drop_message_in_place();
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
      // The blocks of MPI_Neighbor_allgather are the same in whatever order they come.
      const bool ordered = shape_.kind == ExchangeKind::neighbor_alltoall;
      for (std::size_t i = 0; i < neighbors.sources.size(); ++i) {
        const std::size_t place = ordered ? static_cast<std::size_t>((*arrival_)[i]) : i;
        if (!add(place, neighbors.sources[place], messages)) return false;
      }
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

  // A message of this rank to itself that is where it is to be: wrong by the standard, and works with hosts.
  void drop_message_in_place() {
    if (shape_.is_neighbor()) return;
    const auto to_itself = [this](const Message& message) { return message.peer == rank(); };
    const auto sent = std::find_if(blocks_.sends.begin(), blocks_.sends.end(), to_itself);
    if (sent == blocks_.sends.end() || !sent->data.row) return;
    const auto received = std::find_if(blocks_.receives.begin(), blocks_.receives.end(), to_itself);
    if (received == blocks_.receives.end() || received->data.row != sent->data.row) return;
    blocks_.sends.erase(sent);
    blocks_.receives.erase(received);
  }

  Result move() {
    collective::Group& group = communicator_.group->group();
    const Kind kind = kind_of(shape_.kind);
    const std::uint64_t label = bytes_ << 12 | static_cast<std::uint64_t>(root_);
    if (shape_.kind == ExchangeKind::allgather) return collective::publish(group, kind, label, own_, blocks_.gathered);
    return collective::exchange(group, kind, label, blocks_.sends, blocks_.receives);
  }

  Communicator& communicator_;
  const ExchangeCall& call_;
  const ExchangeShape& shape_;
  ExchangeBlocks& blocks_;
  int root_ = 0;
  bool in_place_ = false;
  std::uint64_t bytes_ = 0;  // of each block of a regular call
  const std::vector<int>* arrival_ = nullptr;
  Data own_;
};

}  // namespace

Attempt attempt_exchange(Communicator& communicator, const ExchangeCall& call) noexcept {
  try {
    if (!communicator.exchange) communicator.exchange = std::make_unique<ExchangeBlocks>();
    return Exchange(communicator, call, *communicator.exchange).run();
  } catch (...) {
    return break_off(communicator, abi::err_intern);
  }
}

}  // namespace millrace::shim
