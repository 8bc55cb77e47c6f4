#include "shim/packed/exchange_begin.h"

#include <new>

#include "shim/call/exchange_call.h"
#include "shim/host/bypass.h"
#include "shim/packed/nonblocking.h"

namespace millrace::shim {
namespace {

// By datatypes that can be read on every rank, significant or not.
bool all_predefined(const ExchangeCall& call) {
  const ExchangeShape& shape = call.shape;
  return !shape.send.own_types && is_predefined(call.datatype(shape.send, 0)) &&
         is_predefined(call.datatype(shape.receive, 0));
}

// False: a side whose blocks are all alike is not ours, significant or not. Most that are not are seen here, in
// nanoseconds: what a call of the host takes otherwise is a microsecond.
bool may_pay(const ExchangeCall& call, const ExchangeSide& side) {
  if (side.blocks == ExchangeSide::Blocks::array) return true;
  const Word handle = call.datatype(side, 0);
  if (is_predefined(handle)) return false;
  const std::shared_ptr<Datatype>* const known = find_datatype(handle);
  if (!known || (*known)->state.load(std::memory_order_acquire) != Datatype::State::ready) return true;
  const layout::Layout& layout = *(*known)->layout;
  const std::int64_t count = call.count(side, 0);
  std::int64_t bytes = 0;
  return layout.worth_taking(count) && layout.packed_bytes(count, bytes) == Status::ok &&
         policy_on(layout, (*known)->is_mixed, count, bytes, Goes::in, traffic_of(call.shape)) == record::Reason::none;
}

}  // namespace

Word begin_exchange(HostCall call) {
  test_abandoned();
  const ExchangeShape& shape = *exchange_shape(symbol_entry(call.symbol()));
  const ExchangeCall arguments(call.symbol(), shape, call.words());
  if (all_predefined(arguments)) return call.pass(forwarded(record::Reason::not_accelerated));
  if (is_disabled_entry(call.symbol())) return call.pass(forwarded(record::Reason::disabled));
  if (completions_may_be_unseen()) return call.pass(forwarded(record::Reason::unseen_completion));
  if (!may_pay(arguments, shape.send) && !may_pay(arguments, shape.receive))
    return call.pass(forwarded(record::Reason::host_is_faster));
  const std::size_t request = static_cast<std::uint8_t>(shape.request);  // all that come here have one
  const bool persistent = shape.is_persistent;

  OperationPtr operation;
  try {
    operation = std::make_unique<Operation>();
    operation->exchange = std::make_unique<PackedExchange>(arguments, persistent);
  } catch (const std::bad_alloc&) {
    return call.pass(forwarded(record::Reason::no_buffer));
  }
  PackedExchange& exchange = *operation->exchange;
  // Looking at its types may have shown who else is there.
  const bool is_unseen = completions_may_be_unseen();
  if (is_unseen || !exchange.is_ours()) {
    const Word result =
        call.pass(forwarded(exchange.is_ours() ? record::Reason::unseen_completion : exchange.reason()));
    if (call.succeeded(result)) exchange.remember_unknown();
    return result;
  }
  Observation observation(call);
  const auto bytes =
      (current_mode() & recording) != 0 ? static_cast<std::int64_t>(posted_bytes(call.symbol(), call.words())) : 0;
  if (!persistent) exchange.pack();
  exchange.put_into(call);
  const Word result = call.pass(taken(LayoutAlgorithm::collective));
  const bool succeeded = call.succeeded(result);
  if (succeeded) {
    exchange.remember_unknown();
    operation->persistent = persistent;
    begin(call, request, std::move(operation));
  }
  observation.finish(LayoutAlgorithm::collective, bytes, succeeded);
  return result;
}

}  // namespace millrace::shim
