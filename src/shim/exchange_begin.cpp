#include "shim/exchange_begin.h"

#include <new>

#include "shim/exchange_call.h"
#include "shim/layout_nonblocking.h"

namespace millrace::shim {
namespace {

// By datatypes that can be read on every rank, significant or not.
bool all_predefined(const ExchangeCall& call) {
  const ExchangeShape& shape = call.shape;
  return !shape.send.own_types && is_predefined(call.datatype(shape.send, 0)) &&
         is_predefined(call.datatype(shape.receive, 0));
}

}  // namespace

Word begin_exchange(HostCall call) {
  test_abandoned();
  const ExchangeShape& shape = *exchange_shape(symbol_entry(call.symbol()));
  const ExchangeCall arguments(call.symbol(), shape, call.words());
  if (all_predefined(arguments)) return call.pass(forwarded(record::Reason::not_accelerated));
  if (is_disabled_entry(call.symbol())) return call.pass(forwarded(record::Reason::disabled));
  // The request comes last, but for the error of Fortran; what lies between it and the communicator is the info of a
  // persistent call.
  const std::size_t request = call.words().size() - (call.from_fortran() ? 2 : 1);
  const bool persistent = request != shape.comm + std::size_t{1};

  OperationPtr operation;
  try {
    operation = std::make_unique<Operation>();
    operation->exchange = std::make_unique<PackedExchange>(arguments, persistent);
  } catch (const std::bad_alloc&) {
    return call.pass(forwarded(record::Reason::no_buffer));
  }
  PackedExchange& exchange = *operation->exchange;
  if (!exchange.is_ours()) {
    const Word result = call.pass(forwarded(exchange.reason()));
    if (call.succeeded(result)) exchange.remember_unknown();
    return result;
  }
  Observation observation(call.symbol());
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
