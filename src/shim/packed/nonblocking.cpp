#include "shim/packed/nonblocking.h"

#include <algorithm>
#include <new>

#include "positions.h"
#include "shim/host/bypass.h"
#include "shim/packed/requests.h"
#include "shim/packed/requests_argument.h"

namespace millrace::shim {
namespace {

using plan::MessageForm;

// One message; positions of words.
struct MessageShape {
  Direction direction;
  std::size_t buffer;
  PeerPlaces peer;
  std::size_t request;
  bool persistent;
};

bool is_complete(Word request) {
  int flag = 0;
  return host<Symbol::MPI_Request_get_status>(request, as_word(&flag), abi::status_ignore) == 0 && flag;
}

// What would be ours, if we could be sure to hear of its end.
constexpr Outcome unseen = forwarded(record::Reason::unseen_completion);

Word one_message(HostCall& call, const MessageShape& shape) {
  test_abandoned();
  PackedMessage message(call, shape.buffer, shape.peer, shape.direction, MessageForm::nonblocking,
                        shape.persistent ? FirstUse::ours : FirstUse::host);
  if (!message.is_ours()) return pass_on(call, message.carried());
  if (completions_may_be_unseen()) return call.pass(unseen);
  OperationPtr operation(new (std::nothrow) Operation);
  if (!operation) return call.pass(forwarded(record::Reason::no_buffer));
  const bool goes_out = shape.direction == Direction::out;
  const LayoutAlgorithm algorithm = goes_out ? LayoutAlgorithm::send : LayoutAlgorithm::receive;
  const std::int64_t bytes = message.carried().bytes;
  Observation observation(call);
  if (goes_out && !shape.persistent) message.pack();
  message.put_into(call);
  const Word result = call.pass(taken(algorithm));
  if (call.succeeded(result)) {
    operation->persistent = shape.persistent;
    (goes_out ? operation->outgoing : operation->incoming).emplace(std::move(message));
    begin(call, shape.request, std::move(operation));
  }
  observation.finish(algorithm, bytes, call.succeeded(result));
  return result;
}

void prepare_start(Operation* operation) {
  if (!operation || operation->active) return;
  operation->pack();
  operation->active = true;
  operation->delivered = false;
}

}  // namespace

void begin(const HostCall& call, std::size_t request, OperationPtr operation) {
  operation->request = call.request_at(request);
  operation->active = !operation->persistent;
  if (operation->active && !operation->received() && is_complete(operation->request)) {
    operation->deliver(nullptr);
    return;
  }
  track(std::move(operation));
}

Word isend_call(HostCall call) {
  using Place = at::Isend;
  return one_message(call, {Direction::out, Place::buf, {Place::dest, Place::comm}, Place::request, false});
}
Word irecv_call(HostCall call) {
  using Place = at::Irecv;
  return one_message(call, {Direction::in, Place::buf, {Place::source, Place::comm}, Place::request, false});
}
Word imrecv_call(HostCall call) {
  using Place = at::Imrecv;
  return one_message(call, {Direction::in, Place::buf, {}, Place::request, false});
}
Word send_init_call(HostCall call) {
  using Place = at::Send_init;
  return one_message(call, {Direction::out, Place::buf, {Place::dest, Place::comm}, Place::request, true});
}
Word recv_init_call(HostCall call) {
  using Place = at::Recv_init;
  return one_message(call, {Direction::in, Place::buf, {Place::source, Place::comm}, Place::request, true});
}

Word isendrecv_call(HostCall call) {
  using Place = at::Isendrecv;
  test_abandoned();
  PackedMessage outgoing(call, Place::sendbuf, {Place::dest, Place::comm}, Direction::out, MessageForm::both_ways);
  PackedMessage incoming(call, Place::recvbuf, {Place::source, Place::comm}, Direction::in, MessageForm::both_ways);
  // Where the status does not say how much came, that side stays the host's.
  const bool receives = abi::isendrecv_tells_length && incoming.is_ours();
  if (!outgoing.is_ours() && !receives) return pass_on(call, outgoing.carried(), incoming.carried());
  if (completions_may_be_unseen()) return call.pass(unseen);
  OperationPtr operation(new (std::nothrow) Operation);
  if (!operation) return call.pass(forwarded(record::Reason::no_buffer));
  const bool is_sent_packed = outgoing.is_ours();
  const std::int64_t packed_bytes = outgoing.carried().bytes;
  Observation observation(call);
  if (outgoing.is_ours()) {
    outgoing.pack();
    outgoing.put_into(call);
  }
  if (receives) incoming.put_into(call);
  const Word result = call.pass(taken(LayoutAlgorithm::send_receive));
  if (call.succeeded(result)) {
    remember_unknown(outgoing.carried(), incoming.carried());
    if (outgoing.is_ours()) operation->outgoing.emplace(std::move(outgoing));
    if (receives) operation->incoming.emplace(std::move(incoming));
    begin(call, Place::request, std::move(operation));
  }
  const bool succeeded = call.succeeded(result);
  const std::int64_t bytes = is_sent_packed || !succeeded ? packed_bytes : observation.posted_bytes();
  observation.finish(LayoutAlgorithm::send_receive, bytes, succeeded);
  return result;
}

Word isendrecv_replace_call(HostCall call) {
  using Place = at::Isendrecv_replace;
  test_abandoned();
  PackedMessage message(call, Place::buf, {Place::dest, Place::comm}, Direction::both, MessageForm::both_ways);
  if (!message.is_ours()) return pass_on(call, message.carried());
  if (completions_may_be_unseen()) return call.pass(unseen);
  OperationPtr operation(new (std::nothrow) Operation);
  if (!operation) return call.pass(forwarded(record::Reason::no_buffer));
  const std::int64_t bytes = message.carried().bytes;
  Observation observation(call);
  message.pack();
  message.put_into(call);
  const Word result = call.pass(taken(LayoutAlgorithm::send_receive));
  if (call.succeeded(result)) {
    operation->replaces = true;
    operation->outgoing.emplace(std::move(message));
    begin(call, Place::request, std::move(operation));
  }
  observation.finish(LayoutAlgorithm::send_receive, bytes, call.succeeded(result));
  return result;
}

Word start_call(HostCall call) {
  Operation* const operation = find_operation(call.request_at(at::Start::request));
  prepare_start(operation);
  const Word result = call.pass(forwarded(record::Reason::not_accelerated));
  if (operation && !call.succeeded(result)) operation->active = false;
  return result;
}

Word startall_call(HostCall call) {
  const auto count = static_cast<std::size_t>(std::max(0, call.integer(at::Startall::count)));
  for (std::size_t i = 0; i < count; ++i)
    prepare_start(find_operation(call.request_at(at::Startall::array_of_requests, i)));
  return call.pass(forwarded(record::Reason::not_accelerated));
}

Word request_free_call(HostCall call) {
  test_abandoned();
  Operation* const operation = find_operation(call.request_at(at::Request_free::request));
  if (!operation) return call.pass(forwarded(record::Reason::not_accelerated));
  if (!operation->active) {
    untrack(*operation);
    return call.pass(forwarded(record::Reason::not_accelerated));
  }
  Observation observation(call);
  abandon(untrack(*operation));
  set_request_null(call, at::Request_free::request);
  test_abandoned();
  observation.finish(LayoutAlgorithm::free_request, 0, true);
  return call.succeed();
}

}  // namespace millrace::shim
