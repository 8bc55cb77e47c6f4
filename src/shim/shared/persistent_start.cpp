#include "shim/shared/persistent_start.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "base/log.h"
#include "positions.h"
#include "shim/bind/observed.h"
#include "shim/host/hidden_errors.h"
#include "shim/node/node_agreement.h"
#include "shim/node/node_group.h"
#include "shim/shared/background_helper.h"
#include "shim/shared/background_tokens.h"
#include "shim/shared/repeat.h"

namespace millrace::shim {
namespace {

using record::Reason;
using Stage = Communicator::Stage;

// Of a Repeat.
std::array<Word, 2> buffers_of(const CollectiveCall& call) {
  if (call.exchange)
    return {call.exchange->buffer(call.exchange->shape.send), call.exchange->buffer(call.exchange->shape.receive)};
  if (call.kind == CollectiveKind::bcast) return {call.out, call.out};
  return {call.in, call.out};
}

// One request of a call that starts some.
class Start {
 public:
  explicit Start(BackgroundToken& token) : token_(token), call_(*token.persistent) {}

  // Begins it, if it is ours.
  void decide() {
    Communicator& communicator = call_.channel().communicator;
    if (token_.operation) return failed("a persistent collective was started while it was active");
    if (call_.refusal != Reason::none) return refuse(call_.refusal);
    if (communicator.stage == Stage::undecided) {
      // Whose ranks they are could not be asked any more.
      if (!communicator.accord && call_.is_orphaned()) return refuse(Reason::not_agreed);
      before_host_call(communicator, false);
    }
    is_undecided_ = communicator.stage == Stage::undecided;
    if (communicator.stage == Stage::active)
      begin();
    else
      reason_ = communicator.reason;
  }

  // For those that are not ours. The last that is asked of it.
  void host_has_started(bool succeeded) const {
    if (is_undecided_) {
      const bool is_sure = succeeded && !may_hide_errors(call_.channel().communicator.handle);
      after_host_call(call_.channel().communicator, background_number(call_.call()), call_.bytes(), is_sure, false);
    }
    // It will never be ours: to look for it at each start would cost a fifth of a small one. A report says why.
    if (call_.refusal != Reason::none && (current_mode() & recording) == 0) free_persistent(token_);
  }

  bool is_ours() const { return is_ours_; }
  int error() const { return error_; }
  Reason reason() const { return reason_; }
  std::uint16_t algorithm() const { return background_number(call_.call()); }
  std::uint64_t bytes() const { return call_.bytes(); }

 private:
  void refuse(Reason reason) {
    call_.refusal = reason;
    reason_ = reason;
  }

  void failed(const char* why) {
    is_ours_ = true;
    log(LogLevel::error, why);
    error_ = abi::err_intern;
    const bool is_there = !call_.is_orphaned();
    host<Symbol::MPI_Comm_call_errhandler>(is_there ? call_.channel().communicator.handle : abi::comm_world(),
                                           as_word(error_));
  }

  void begin() {
    BackgroundChannel& channel = call_.channel();
    try {
      note_background_advance();
      // The token has the call, which keeps the channel, for as long as the operation.
      ReadyBlocks ready = ready_to_repeat(channel, call_.repeat(), buffers_of(call_.call()));
      BackgroundOperation& operation =
          ready.is_ready ? token_.operation.emplace(ChannelInUse::borrowed(channel), call_.symbol(), call_.repeat(),
                                                    buffers_of(call_.call()), std::move(ready.blocks))
                         : token_.operation.emplace(ChannelInUse::borrowed(channel), call_.symbol(), call_.words(),
                                                    call_.call(), &call_.repeat());
      if (!channel.queue()->begin(operation.call_in_background)) throw std::bad_alloc();
      if (!operation.call_in_background.has_entered() && operation.attempt.reason() != Reason::none) {
        const Reason reason = operation.attempt.reason();
        channel.keep_blocks(std::move(operation.blocks));
        token_.operation.reset();
        return refuse(reason);
      }
    } catch (...) {
      // The others count on this rank.
      channel.communicator.group->group().fail(collective::Result::rank_failed);
      token_.operation.reset();
      return failed("no memory to start a persistent collective");
    }
    is_ours_ = true;
    note_begun(token_);
  }

  BackgroundToken& token_;
  PersistentCall& call_;
  bool is_ours_ = false, is_undecided_ = false;
  int error_ = 0;
  Reason reason_ = Reason::none;
};

Word start_one(Symbol symbol, std::span<Word> words, AsUsual usual, Start& start) {
  start.decide();
  if (start.is_ours()) return start.error() == 0 ? succeed(symbol, words) : fail(symbol, words, start.error());
  const Word request = Arguments(symbol, words).request_at(at::Start::request);
  const ForwardedCollective forwarded(static_cast<std::uint16_t>(symbol_entry(symbol)), is_fortran(symbol), request);
  const Word result = usual(words.data());
  start.host_has_started(has_succeeded(symbol, result, words));
  return result;
}

// Some of an array, as the host is given them.
struct HostsRequests {
  std::vector<char> handles;
  int count = 0;
};

// The others of a call that starts several.
HostsRequests requests_but(const Arguments& arguments, std::size_t count, const std::vector<bool>& is_ours) {
  const std::size_t bytes = arguments.from_fortran() ? fortran::handle_bytes() : sizeof(abi::HandleStorage);
  const char* const given = static_cast<const char*>(as_pointer(arguments.word(at::Startall::array_of_requests)));
  HostsRequests left;
  left.handles.resize(count * bytes + 1);
  for (std::size_t i = 0; i < count; ++i)
    if (!is_ours[i])
      std::memcpy(&left.handles[bytes * static_cast<std::size_t>(left.count++)], given + i * bytes, bytes);
  return left;
}

struct StartedSeveral {
  Word result;
  std::uint64_t bytes = 0;
  std::uint16_t algorithm = record::no_algorithm;
  Reason reason = Reason::not_accelerated;
};

StartedSeveral start_several(Symbol symbol, std::span<Word> words, AsUsual usual) {
  const Arguments arguments(symbol, words);
  const auto count = static_cast<std::size_t>(std::max(0, arguments.integer(at::Startall::count)));
  std::vector<Start> starts;
  std::vector<bool> is_ours(count);
  StartedSeveral all{.result = 0};
  int error = 0;
  starts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    BackgroundToken* const token = find_persistent(arguments.request_at(at::Startall::array_of_requests, i));
    if (!token) continue;
    Start& start = starts.emplace_back(*token);
    start.decide();
    is_ours[i] = start.is_ours();
    if (start.error() != 0) error = start.error();
    if (!start.is_ours()) {
      all.reason = start.reason();
      continue;
    }
    all.bytes += start.bytes();
    all.algorithm = start.algorithm();
  }
  if (all.algorithm != record::no_algorithm) all.reason = Reason::none;
  HostsRequests left = requests_but(arguments, count, is_ours);
  std::array<Word, 3> hosts_words{};
  std::copy(words.begin(), words.end(), hosts_words.begin());
  hosts_words[at::Startall::count] = is_fortran(symbol) ? as_word(&left.count) : static_cast<Word>(left.count);
  hosts_words[at::Startall::array_of_requests] = as_word(left.handles.data());
  bool succeeded = true;
  if (left.count == 0) {
    all.result = succeed(symbol, words);
  } else {
    const auto hosts = std::span(hosts_words).first(words.size());
    const Word first = Arguments(symbol, hosts).request_at(at::Startall::array_of_requests);
    const ForwardedCollective forwarded(static_cast<std::uint16_t>(symbol_entry(symbol)), is_fortran(symbol), first);
    all.result = usual(hosts.data());
    succeeded = has_succeeded(symbol, all.result, words);
  }
  for (const Start& start : starts)
    if (!start.is_ours()) start.host_has_started(succeeded);
  if (succeeded && error != 0) all.result = fail(symbol, words, error);
  return all;
}

bool is_nested(Symbol symbol, Word request) {
  return ForwardedCollective::is_nested(static_cast<std::uint16_t>(symbol_entry(symbol)), is_fortran(symbol), request);
}

}  // namespace

Word start_persistent(Symbol symbol, std::span<Word> words, AsUsual usual) {
  const Word request = Arguments(symbol, words).request_at(at::Start::request);
  BackgroundToken* const token = find_persistent(request);
  if (!token || is_nested(symbol, request)) return usual(words.data());
  Start start(*token);
  if ((current_mode() & recording) == 0) return start_one(symbol, words, usual, start);
  ObservedCall observed(symbol);
  const Word result = start_one(symbol, words, usual, start);
  observed.stop();
  if (start.is_ours())
    observed.add(start.bytes(), start.algorithm(), Reason::none);
  else
    observed.add(0, record::no_algorithm, start.reason());
  return result;
}

Word startall_persistent(Symbol symbol, std::span<Word> words, AsUsual usual) try {
  const Arguments arguments(symbol, words);
  if (arguments.integer(at::Startall::count) <= 0) return usual(words.data());
  if (is_nested(symbol, arguments.request_at(at::Startall::array_of_requests))) return usual(words.data());
  if ((current_mode() & recording) == 0) return start_several(symbol, words, usual).result;
  ObservedCall observed(symbol);
  const StartedSeveral started = start_several(symbol, words, usual);
  observed.stop();
  observed.add(started.bytes, started.algorithm, started.reason);
  return started.result;
} catch (const std::bad_alloc&) {
  return fail(symbol, words, abi::err_intern);
}

Word request_free_persistent(Symbol symbol, std::span<Word> words, AsUsual usual) {
  BackgroundToken* const token = find_persistent(Arguments(symbol, words).request_at(at::Request_free::request));
  if (token) free_persistent(*token);
  return usual(words.data());
}

}  // namespace millrace::shim
