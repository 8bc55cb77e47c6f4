#include "shim/packed/point_to_point.h"

#include "positions.h"
#include "shim/packed/message.h"
#include "shim/packed/status_argument.h"

namespace millrace::shim {
namespace {

using plan::MessageForm;

Word receive(HostCall& call, const PackedMessage& message, std::size_t status_position) {
  if (!message.is_ours()) return pass_on(call, message.carried());
  Observation observation(call);
  StatusArgument status(call, status_position);
  message.put_into(call);
  const Word result = call.pass(taken(LayoutAlgorithm::receive));
  // After an error the buffer's contents are undefined (MPI 4.1, 3.2.4); a truncated message is such an error.
  if (call.succeeded(result)) message.unpack(received_bytes(status.at(0)));
  observation.finish(LayoutAlgorithm::receive, message.carried().bytes, call.succeeded(result));
  return result;
}

}  // namespace

Word send_call(HostCall call) {
  const PackedMessage message(call, at::Send::buf, {at::Send::dest, at::Send::comm}, Direction::out,
                              MessageForm::blocking);
  if (!message.is_ours()) return pass_on(call, message.carried());
  Observation observation(call);
  message.pack();
  message.put_into(call);
  const Word result = call.pass(taken(LayoutAlgorithm::send));
  observation.finish(LayoutAlgorithm::send, message.carried().bytes, call.succeeded(result));
  return result;
}

Word receive_call(HostCall call) {
  const PackedMessage message(call, at::Recv::buf, {at::Recv::source, at::Recv::comm}, Direction::in,
                              MessageForm::blocking);
  return receive(call, message, at::Recv::status);
}

Word matched_receive_call(HostCall call) {
  const PackedMessage message(call, at::Mrecv::buf, {}, Direction::in, MessageForm::blocking);
  return receive(call, message, at::Mrecv::status);
}

Word send_receive_call(HostCall call) {
  using Place = at::Sendrecv;
  const PackedMessage outgoing(call, Place::sendbuf, {Place::dest, Place::comm}, Direction::out,
                               MessageForm::both_ways);
  const PackedMessage incoming(call, Place::recvbuf, {Place::source, Place::comm}, Direction::in,
                               MessageForm::both_ways);
  if (!outgoing.is_ours() && !incoming.is_ours()) return pass_on(call, outgoing.carried(), incoming.carried());
  Observation observation(call);
  if (outgoing.is_ours()) {
    outgoing.pack();
    outgoing.put_into(call);
  }
  if (incoming.is_ours()) incoming.put_into(call);
  StatusArgument status(call, Place::status);
  const Word result = call.pass(taken(LayoutAlgorithm::send_receive));
  if (call.succeeded(result)) {
    if (incoming.is_ours()) incoming.unpack(received_bytes(status.at(0)));
    remember_unknown(outgoing.carried(), incoming.carried());
  }
  // What went out, or what came in where nothing did.
  const bool succeeded = call.succeeded(result);
  const std::int64_t bytes = outgoing.is_ours() || !succeeded ? outgoing.carried().bytes : observation.posted_bytes();
  observation.finish(LayoutAlgorithm::send_receive, bytes, succeeded);
  return result;
}

Word send_receive_replace_call(HostCall call) {
  using Place = at::Sendrecv_replace;
  const PackedMessage message(call, Place::buf, {Place::dest, Place::comm}, Direction::both, MessageForm::both_ways);
  if (!message.is_ours()) return pass_on(call, message.carried());
  Observation observation(call);
  message.pack();
  message.put_into(call);
  StatusArgument status(call, Place::status);
  const Word result = call.pass(taken(LayoutAlgorithm::send_receive));
  if (call.succeeded(result)) message.unpack(received_bytes(status.at(0)));
  observation.finish(LayoutAlgorithm::send_receive, message.carried().bytes, call.succeeded(result));
  return result;
}

}  // namespace millrace::shim
