#include "shim/shared/host_verdict.h"

#include "shim/bind/forward.h"
#include "shim/host/quiet_comm.h"

namespace millrace::shim {
namespace {

using Blocks = ExchangeSide::Blocks;

// Arguments of a call of one rank with itself.
struct CallToItself {
  const void* sent;
  void* received;
  int send_count, receive_count;
  bool same_counts;  // one array, where there are arrays: MPICH looks at that
  Word type;
};

int ask(ExchangeKind kind, const ExchangeShape& shape, const CallToItself& question) {
  const int send_counts[1] = {question.send_count};
  const int other_counts[1] = {question.receive_count};
  const int* const receive_counts = question.same_counts ? send_counts : other_counts;
  const int places[1] = {0};
  const abi::HandleStorage types[1] = {static_cast<abi::HandleStorage>(question.type)};
  const Word sent = as_word(question.sent), received = as_word(question.received), type = question.type;
  const Word send_count = as_word(question.send_count), receive_count = as_word(question.receive_count);
  const Word sends = as_word(send_counts), receives = as_word(receive_counts), at = as_word(places);
  const Word comm = quiet_comm();
  const bool arrays = shape.send.blocks == Blocks::array || shape.receive.blocks == Blocks::array;
  switch (kind) {
    case ExchangeKind::gather:
      return arrays ? host<Symbol::MPI_Gatherv>(sent, send_count, type, received, receives, at, type, 0, comm)
                    : host<Symbol::MPI_Gather>(sent, send_count, type, received, receive_count, type, 0, comm);
    case ExchangeKind::scatter:
      return arrays ? host<Symbol::MPI_Scatterv>(sent, sends, at, type, received, receive_count, type, 0, comm)
                    : host<Symbol::MPI_Scatter>(sent, send_count, type, received, receive_count, type, 0, comm);
    case ExchangeKind::allgather:
      return arrays ? host<Symbol::MPI_Allgatherv>(sent, send_count, type, received, receives, at, type, comm)
                    : host<Symbol::MPI_Allgather>(sent, send_count, type, received, receive_count, type, comm);
    case ExchangeKind::alltoall:
      if (shape.send.own_types)
        return host<Symbol::MPI_Alltoallw>(sent, sends, at, as_word(types), received, receives, at, as_word(types),
                                           comm);
      return arrays ? host<Symbol::MPI_Alltoallv>(sent, sends, at, type, received, receives, at, type, comm)
                    : host<Symbol::MPI_Alltoall>(sent, send_count, type, received, receive_count, type, comm);
    default: return 0;  // hosts do not look at the buffers of neighbourhood collectives
  }
}

}  // namespace

bool host_rejects_alias(const ExchangeCall& call) {
  const ExchangeShape& shape = call.shape;
  if (shape.is_neighbor()) return false;
  int element = 0;
  CallToItself question{&element, &element, 1, 1, true, abi::int_type()};
  if (shape.send.blocks == Blocks::array && shape.receive.blocks == Blocks::array) {
    // MPICH and its relatives compare arrays by their addresses, and buffers also where nothing is sent.
    question = {as_pointer(call.buffer(shape.send)),
                as_pointer(call.buffer(shape.receive)),
                0,
                0,
                call.same_arguments(&ExchangeSide::count),
                abi::int_type()};
    if (shape.send.own_types && !call.same_arguments(&ExchangeSide::datatype)) return false;
  }
  if (!shape.send.own_types && call.datatype(shape.send, 0) != call.datatype(shape.receive, 0)) return false;
  return ask(shape.kind, shape, question) != 0;
}

bool host_rejects_alias(const CollectiveCall& call) {
  int elements[2] = {0, 0};
  const Word buffer = as_word(elements), type = abi::int_type(), op = abi::max_op();
  const Word count = call.count == 1 ? 1 : 2;  // Open MPI lets a single element pass
  const int counts[1] = {as_int(count)};
  switch (call.kind) {
    case CollectiveKind::reduce: return host<Symbol::MPI_Reduce>(buffer, buffer, count, type, op, 0, quiet_comm()) != 0;
    case CollectiveKind::scan: return host<Symbol::MPI_Scan>(buffer, buffer, count, type, op, quiet_comm()) != 0;
    case CollectiveKind::exscan: return host<Symbol::MPI_Exscan>(buffer, buffer, count, type, op, quiet_comm()) != 0;
    case CollectiveKind::reduce_scatter:
      return call.counts
                 ? host<Symbol::MPI_Reduce_scatter>(buffer, buffer, as_word(counts), type, op, quiet_comm()) != 0
                 : host<Symbol::MPI_Reduce_scatter_block>(buffer, buffer, count, type, op, quiet_comm()) != 0;
    default: break;
  }
  return host<Symbol::MPI_Allreduce>(buffer, buffer, count, type, op, quiet_comm()) != 0;
}

bool host_compares_own_blocks(const ExchangeCall& call) {
  int sent = 0, received[2] = {0, 0};
  return call.shape.kind == ExchangeKind::alltoall &&
         ask(ExchangeKind::alltoall, call.shape, {&sent, received, 1, 2, false, abi::int_type()}) != 0;
}

}  // namespace millrace::shim
