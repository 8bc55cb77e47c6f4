#include "shim/shared/background_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/log.h"
#include "shared_memory/process.h"
#include "shim/bind/late_answers.h"
#include "shim/bind/observed.h"
#include "shim/call/disabled_entries.h"
#include "shim/host/hidden_errors.h"
#include "shim/host/host_progress.h"
#include "shim/node/node_agreement.h"
#include "shim/node/node_group.h"
#include "shim/shared/background_helper.h"
#include "shim/shared/background_requests.h"
#include "shim/shared/background_tokens.h"
#include "shim/shared/begun_before.h"
#include "shim/shared/exchange_blocks.h"
#include "shim/shared/repeat.h"

namespace millrace::shim {
namespace {

using record::Reason;

// Tools that follow every write take a change of the stack for something else.
bool can_help() { return Fiber::can_switch() && !shared_memory::writes_are_followed() && have_background_helper(); }

// The neighbours of a communicator that is there no more, or not yet agreed on, are those of its channel.
void give_neighbors(const BackgroundChannel& channel, std::unique_ptr<KeptWithCommunicator>& blocks) {
  if (!blocks) blocks = std::make_unique<ExchangeBlocks>();
  std::optional<Neighbors>& neighbors = static_cast<ExchangeBlocks&>(*blocks).neighbors;
  if (neighbors) return;
  neighbors = channel.neighbors() ? *channel.neighbors() : Neighbors{};
  neighbors->repeats_anywhere = neighbors->repeats;
}

}  // namespace

std::uint16_t background_number(const CollectiveCall& call) {
  const int exchange = call.kind == CollectiveKind::exchange ? static_cast<int>(call.exchange->shape.kind) : 0;
  return static_cast<std::uint16_t>(first_shared_algorithm + static_cast<int>(call.kind) + exchange);
}

BackgroundOperation::BackgroundOperation(ChannelInUse its_channel, Symbol its_symbol, std::span<const Word> its_words,
                                         const CollectiveCall& its_call, Repeat* how)
    : channel(std::move(its_channel)), symbol(its_symbol), anew(std::in_place, its_call, how) {
  std::copy(its_words.begin(), its_words.end(), anew->words.begin());
  if (!its_call.exchange) return;
  anew->exchange.emplace(its_symbol, its_call.exchange->shape, std::span(anew->words).first(its_words.size()));
  anew->call.exchange = &*anew->exchange;
  blocks = channel->take_blocks();
  if (anew->exchange->shape.is_neighbor()) give_neighbors(*channel, blocks);
}

BackgroundOperation::BackgroundOperation(ChannelInUse its_channel, Symbol its_symbol, const Repeat& how,
                                         std::array<Word, 2> its_buffers,
                                         std::unique_ptr<KeptWithCommunicator> its_blocks)
    : channel(std::move(its_channel)),
      symbol(its_symbol),
      repeat(&how),
      buffers(its_buffers),
      blocks(std::move(its_blocks)) {}

ReadyBlocks ready_to_repeat(BackgroundChannel& channel, Repeat& how, std::array<Word, 2> buffers) noexcept try {
  if (!how.run) return {};
  ReadyBlocks ready;
  if (how.lists) {
    ready.blocks = channel.take_blocks();
    if (is_of_neighbors(how.blocks.kind)) give_neighbors(channel, ready.blocks);
    if (!ready.blocks) return ready;
    how.lists = static_cast<ExchangeBlocks*>(ready.blocks.get());  // read as soon as the call runs
  }
  ready.is_ready = how.fits(how, buffers[0], buffers[1]);
  if (!ready.is_ready) channel.keep_blocks(std::move(ready.blocks));
  return ready;
} catch (...) {  // no memory: as if nothing were known
  return {};
}

void BackgroundOperation::work(void* self) {
  auto& operation = *static_cast<BackgroundOperation*>(self);
  if (operation.anew)
    operation.attempt = attempt_collective(operation.channel->communicator, operation.anew->call, operation.blocks,
                                           operation.anew->repeat);
  else
    operation.attempt = operation.repeat->run(*operation.repeat, operation.buffers[0], operation.buffers[1]);
}

void BackgroundOperation::advance() const { channel->queue()->advance(collective::Advancing::caller); }

void BackgroundOperation::finish() const {
  note_background_advance();
  channel->queue()->finish(call_in_background);
}

BackgroundFailure BackgroundOperation::failure() const {
  int error = attempt.error();
  if (attempt.reason() == Reason::buffers_overlap) error = abi::err_buffer;
  if (attempt.result() == collective::Result::truncated) error = abi::err_truncate;
  if (error == 0 && attempt.result() != collective::Result::ok) error = abi::err_intern;
  if (error == 0) return {};
  const Communicator& communicator = channel->communicator;
  // Of the host's own error that says enough.
  if (attempt.result() != collective::Result::ok)
    log(error == abi::err_truncate ? LogLevel::info : LogLevel::error,
        fmt::format("{} on rank {} of {}: {}", entry_names()[static_cast<std::size_t>(symbol_entry(symbol))],
                    communicator.rank, communicator.ranks, explanation(attempt.result())));
  // It may have been freed meanwhile.
  const Communicator* const known = find_communicator(communicator.handle);
  const bool is_there = known && known->serial == communicator.serial;
  return {error, is_there ? communicator.handle : abi::comm_world()};
}

BackgroundBeginning::BackgroundBeginning(Symbol symbol, std::span<const Word> words, const CollectiveCall& call)
    : symbol_(symbol), call_(call) {
  is_nested_ =
      ForwardedCollective::is_nested(static_cast<std::uint16_t>(symbol_entry(symbol)), call.from_fortran, call.comm);
  if (is_nested_) return;
  Communicator* const known = find_communicator(call.comm);
  BackgroundChannel* const channel = known ? BackgroundChannel::of(*known) : nullptr;
  if (!channel) return;
  Communicator& communicator = channel->communicator;
  if (communicator.stage == Communicator::Stage::undecided) before_host_call(communicator, false);
  if (communicator.stage == Communicator::Stage::undecided) undecided_ = channel;
  if (communicator.stage == Communicator::Stage::host) leave_to_host_for_good();
  if (communicator.stage != Communicator::Stage::active) return;
  if (is_disabled_entry(symbol) || (channel->leaves_neighbors && call.exchange && call.exchange->shape.is_neighbor())) {
    leave_to_host_for_good();
    return;
  }
  if ((current_mode() & recording) == 0) {
    begin(*channel, words);
    return;
  }
  ObservedCall observed(symbol);
  begin(*channel, words);
  observed.stop();
  if (is_ours_ && observed.outermost())
    observed.add(posted_bytes(symbol, words), background_number(call), Reason::none, words);
}

// What an open call may be done by stays as it is.
void BackgroundBeginning::remember(BackgroundChannel& channel, std::span<const Word> words,
                                   const Repeat& how) const noexcept try {
  BegunCall& place = channel.make_begun_calls().place(symbol_, call_.kind, words);
  if (place.is_known() && !channel.has_one_call()) return;
  std::array<std::uint8_t, 2> buffers{0, 0};
  if (call_.exchange)
    buffers = {call_.exchange->shape.send.buffer, call_.exchange->shape.receive.buffer};
  else if (is_reduction(call_.kind))
    buffers = {0, 1};
  place.remember(symbol_, words, buffers, call_.kind != CollectiveKind::barrier, how);
} catch (...) {  // no memory: the next one is looked at anew
}

Begun begin_as_before(Symbol symbol, CollectiveKind kind, std::span<const Word> words, Word& result) noexcept {
  if (words.size() > BegunCall::most_words || ForwardedCollective::is_in_fortran() ||
      (current_mode() & (recording | checking)) != 0)
    return Begun::anew;
  const Communicator* const known = find_communicator(words[words.size() - 2]);
  BackgroundChannel* const channel = known ? BackgroundChannel::found_of(*known) : nullptr;
  if (!channel || !channel->begun_calls()) return Begun::anew;
  BegunCall& before = channel->begun_calls()->place(symbol, kind, words);
  if (!before.is_as(symbol, words)) return Begun::anew;
  if (before.is_hosts()) return Begun::hosts;
  const std::array<Word, 2> buffers = before.buffers_in(words);
  ReadyBlocks ready = ready_to_repeat(*channel, before.repeat(), buffers);
  if (!ready.is_ready) return Begun::anew;
  note_background_advance();
  BackgroundRequest request;
  if (!request) return Begun::anew;
  BackgroundOperation& operation = request.begin(*channel, symbol, before.repeat(), buffers, std::move(ready.blocks));
  if (!channel->queue()->begin(operation.call_in_background)) return Begun::anew;
  request.give(false, words.back());
  result = 0;
  return Begun::ours;
}

void BackgroundBeginning::leave_to_host_for_good() const {
  if (is_fortran(symbol_)) return;
  hosts_beginning(symbol_, call_.comm) = {symbol_, call_.comm, communicator_generation.load(std::memory_order_acquire)};
}

void BackgroundBeginning::begin(BackgroundChannel& channel, std::span<const Word> words) try {
  note_background_advance();
  BackgroundRequest request;  // before anybody counts on this call
  if (!request) throw std::bad_alloc();
  const bool is_neighbor = call_.exchange && call_.exchange->shape.is_neighbor();
  const bool may_repeat = !is_fortran(symbol_) && words.size() <= BegunCall::most_words;
  BackgroundOperation& operation = request.begin(channel, symbol_, words, call_);
  std::optional<Repeat>& how = operation.anew->own;
  if (may_repeat) operation.anew->repeat = &how.emplace();
  if (!channel.queue()->begin(operation.call_in_background)) throw std::bad_alloc();
  if (!operation.call_in_background.has_entered() && operation.attempt.reason() != Reason::none) {
    channel.keep_blocks(std::move(operation.blocks));
    if (may_repeat && operation.attempt.by_words()) remember(channel, words, {});
    if (operation.attempt.reason() == Reason::host_is_faster && is_neighbor) channel.leaves_neighbors = true;
    return;
  }
  if (how && how->run) remember(channel, words, *how);
  is_ours_ = true;
  const std::size_t place = words.size() - (is_fortran(symbol_) ? 2 : 1);
  request.give(call_.from_fortran, words[place]);
  result_ = succeed(symbol_, words);
} catch (...) {
  // The others count on this rank, if the call is one of ours: it is not known.
  channel.communicator.group->group().fail(collective::Result::rank_failed);
  is_ours_ = true;
  log(LogLevel::error, "no memory to begin a nonblocking collective");
  host<Symbol::MPI_Comm_call_errhandler>(call_.comm, as_word(abi::err_intern));
  result_ = fail(symbol_, words, abi::err_intern);
}

void BackgroundBeginning::host_has_begun(bool succeeded, std::span<const Word> words) {
  if (!undecided_) return;
  // Its error handler may have freed it.
  Communicator* const known = find_communicator(call_.comm);
  if (!known || known->background.get() != undecided_) return;
  const bool is_sure = succeeded && !may_hide_errors(call_.comm);
  const std::uint64_t bytes = is_sure && weighs_calls(undecided_->communicator) ? posted_bytes(symbol_, words) : 0;
  after_host_call(undecided_->communicator, background_number(call_), bytes, is_sure, false);
}

void prepare_background_calls() { ask_before_background(can_help); }

void forget_background_calls() noexcept {
  ask_before_background(nullptr);
  forget_background_channels();
  forget_tokens();
}

}  // namespace millrace::shim
