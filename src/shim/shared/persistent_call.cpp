#include "shim/shared/persistent_call.h"

#include <algorithm>
#include <cstring>

#include "shim/bind/observed.h"
#include "shim/call/disabled_entries.h"
#include "shim/datatypes/datatypes.h"
#include "shim/host/bypass.h"
#include "shim/host/hidden_errors.h"
#include "shim/reduce/reductions.h"
#include "shim/shared/background_tokens.h"

namespace millrace::shim {
namespace {

using Blocks = ExchangeSide::Blocks;

// Each has memory of its own in the node.
constexpr int most_requests = 64;

struct Significant {
  bool send, receive;
};

// Of the arguments of one rank, which may be anything where they are not.
Significant significant_sides(const ExchangeCall& exchange, int rank) {
  const ExchangeShape& shape = exchange.shape;
  const bool is_root = shape.is_rooted() && exchange.root() == rank;
  switch (shape.kind) {
    case ExchangeKind::gather: return {!is_root || !exchange.is_in_place(shape.send), is_root};
    case ExchangeKind::scatter: return {is_root, !is_root || !exchange.is_in_place(shape.receive)};
    default: return {!exchange.is_in_place(shape.send), true};
  }
}

// Why a reduction is the host's, as all ranks see; what is not predefined the program may free before it starts it.
record::Reason refusal_of(const CollectiveCall& call) {
  if (!is_reduction(call.kind)) return record::Reason::none;
  if (is_predefined(call.datatype) && find_reduction(call.datatype, call.op)) return record::Reason::none;
  return covers_op(call.op) ? record::Reason::type_not_covered : record::Reason::op_not_covered;
}

}  // namespace

PersistentCall::PersistentCall(std::shared_ptr<BackgroundChannel> its_channel, Symbol its_symbol,
                               std::span<const Word> its_words, const CollectiveCall& its_call)
    : channel_(std::move(its_channel)),
      symbol_(is_large(its_symbol) ? Symbol::MPI_Alltoallw_init_c : Symbol::MPI_Alltoallw_init),
      call_(its_call) {
  refusal = refusal_of(call_);
  bytes_ = posted_bytes(its_symbol, its_words);
  if (call_.exchange) {
    keep_exchange(its_symbol, its_words, *its_call.exchange);
  } else if (call_.counts) {
    const auto ranks = static_cast<std::size_t>(channel_->communicator.ranks);
    call_.counts = as_pointer(keep(call_.counts, ranks * (call_.has_wide_counts ? sizeof(std::int64_t) : sizeof(int))));
  } else if (call_.kind == CollectiveKind::bcast) {
    call_.datatype = keep_type(call_.datatype);
  }
  call_.from_fortran = false;
}

PersistentCall::~PersistentCall() {
  for (const Word type : types_) {
    auto freed = static_cast<abi::HandleStorage>(type);
    host<Symbol::MPI_Type_free>(as_word(&freed));
  }
}

bool PersistentCall::is_orphaned() const {
  const Communicator& own = channel_->communicator;
  const Communicator* const known = find_communicator(own.handle);
  return !known || known->serial != own.serial;
}

void PersistentCall::keep_exchange(Symbol symbol, std::span<const Word> words, const ExchangeCall& exchange) {
  const ExchangeShape& shape = exchange.shape;
  const Communicator& communicator = channel_->communicator;
  length_ = words.size() - (is_fortran(symbol) ? 1 : 0);
  words_[shape.comm] = exchange.comm();
  if (shape.is_rooted()) words_[static_cast<std::uint8_t>(shape.root)] = as_word(exchange.root());
  const auto ranks = static_cast<std::size_t>(communicator.ranks);
  std::size_t sources = ranks, destinations = ranks;
  if (const Neighbors* const neighbors = shape.is_neighbor() ? channel_->neighbors() : nullptr)
    sources = neighbors->sources.size(), destinations = neighbors->destinations.size();
  const Significant sides = significant_sides(exchange, communicator.rank);
  keep_side(exchange, shape.send, destinations, sides.send);
  keep_side(exchange, shape.receive, sources, sides.receive);
  exchange_.emplace(symbol_, shape, this->words());
  call_.exchange = &*exchange_;
}

void PersistentCall::keep_side(const ExchangeCall& exchange, const ExchangeSide& side, std::size_t blocks,
                               bool is_significant) {
  words_[side.buffer] = exchange.is_in_place(side) ? abi::in_place : exchange.buffer(side);
  const bool has_arrays = side.blocks == Blocks::array;
  if (has_arrays && is_significant) {
    const bool large = is_large(symbol_);
    const std::size_t count_bytes = large ? sizeof(std::int64_t) : sizeof(int);
    const std::size_t place_bytes = exchange.has_wide_displacements() ? sizeof(std::int64_t) : sizeof(int);
    words_[side.count] = keep(as_pointer(exchange.word(side.count)), blocks * count_bytes);
    words_[side.displacements] = keep(as_pointer(exchange.word(side.displacements)), blocks * place_bytes);
  } else if (!has_arrays) {
    words_[side.count] = static_cast<Word>(exchange.count(side, 0));
  }
  // Of nothing the type may be none at all.
  const auto type_of = [&](std::size_t block, bool any) {
    return any ? keep_type(exchange.datatype(side, block)) : abi::int_type();
  };
  if (!side.own_types) {
    bool any = false;
    for (std::size_t i = 0; is_significant && !any && i < (has_arrays ? blocks : 1); ++i)
      any = exchange.count(side, i) != 0;
    words_[side.datatype] = type_of(0, any);
  } else if (is_significant) {
    std::vector<abi::HandleStorage> types(blocks);
    for (std::size_t i = 0; i < blocks; ++i)
      types[i] = static_cast<abi::HandleStorage>(type_of(i, exchange.count(side, i) != 0));
    words_[side.datatype] = keep(types.data(), blocks * sizeof types[0]);
  }
}

Word PersistentCall::keep(const void* array, std::size_t bytes) {
  arrays_.push_back(std::make_unique<std::byte[]>(bytes + 1));
  if (bytes != 0) std::memcpy(arrays_.back().get(), array, bytes);
  return as_word(arrays_.back().get());
}

Word PersistentCall::keep_type(Word handle) {
  if (is_predefined(handle)) return handle;
  types_.reserve(types_.size() + 1);
  Word made = 0;
  if (host<Symbol::MPI_Type_dup>(handle, as_word(&made)) != 0) throw std::bad_alloc();
  types_.push_back(abi::handle(made));
  return types_.back();
}

void prepared_by_host(Symbol symbol, std::span<const Word> words, const CollectiveCall& call, bool succeeded) noexcept
    try {
  Communicator* const communicator = find_communicator(call.comm);
  if (!communicator) return;
  // Also of what failed here: for the others it may have been one.
  const std::uint64_t number = ++communicator->persistent_calls;
  if (!succeeded || may_hide_errors(call.comm) || is_disabled_entry(symbol) || completions_may_be_unseen()) return;
  if (persistent_requests.load(std::memory_order_relaxed) >= most_requests) return;
  std::shared_ptr<BackgroundChannel> channel = BackgroundChannel::of_persistent(*communicator, number);
  if (!channel) return;
  const std::size_t place = words.size() - (is_fortran(symbol) ? 2 : 1);
  const Word request = Arguments(symbol, words).request_at(place);
  keep_persistent(request, std::make_unique<PersistentCall>(std::move(channel), symbol, words, call));
} catch (...) {
  // Without memory this rank never agrees with the others, and the call stays with the host.
}

}  // namespace millrace::shim
