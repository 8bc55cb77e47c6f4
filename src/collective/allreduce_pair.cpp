// Allreduce of two ranks: both send all their elements and both reduce them, in rank order. A few bytes go in one line,
// up to a chunk in buffers that change hands (pair.h), and longer messages alternate between two such buffers, the next
// chunk being sent before the last is awaited.
#include <cstring>

#include "collective/call_copies.h"
#include "collective/chunking.h"
#include "collective/pair.h"

namespace millrace::collective {
namespace {

// `own` may be `out`. Not the copy that was sent: the other rank may be writing there already.
void combine(Group& group, const Reducer& reducer, const void* own, const void* other, void* out,
             std::size_t elements) {
  const bool first = group.rank() == 0;
  const void* const inputs[2] = {first ? own : other, first ? other : own};
  fold(reducer, inputs, 2, out, elements, group.scratch());
}

void send(Group& group, const Call& call, PairExchange& exchange, const void* from, std::size_t bytes) {
  group.leave(PairExchange::data(exchange.own, bytes), from, bytes);
  exchange.send(group, call.label);
}

Result receive(Group& group, const Call& call, PairExchange& exchange) {
  std::uint64_t label = 0;
  if (const Result result = exchange.receive(group, label); result != Result::ok) return result;
  return label == call.label ? Result::ok : group.fail(Result::mismatch);
}

Result at_once(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
               const Reducer& reducer) {
  const std::size_t bytes = elements * reducer.element_bytes;
  const std::uint64_t number = group.exchanges++;
  PairExchange exchange(group, 0, number, number);
  send(group, call, exchange, in, bytes);
  if (const Result result = receive(group, call, exchange); result != Result::ok) return result;
  combine(group, reducer, in, PairExchange::data(exchange.other, bytes), out, elements);
  return Result::ok;
}

Result in_chunks(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                 const Reducer& reducer) {
  const Chunking chunking(group, elements, reducer.element_bytes, group.selection().pair_chunk_bytes);
  const std::uint64_t first = group.pair_chunks;
  group.pair_chunks += chunking.count;
  const auto exchange = [&](std::uint64_t index) {
    const std::uint64_t number = first + index;
    return PairExchange(group, 1 + static_cast<std::uint32_t>(number % 2), number, number / 2);
  };
  const auto send_chunk = [&](std::uint64_t index) {
    const Extent chunk = chunking.chunk(index);
    PairExchange sent = exchange(index);
    send(group, call, sent, static_cast<const char*>(in) + chunk.begin * reducer.element_bytes,
         chunk.elements * reducer.element_bytes);
  };
  send_chunk(0);
  for (std::uint64_t index = 0; index < chunking.count; ++index) {
    if (index + 1 < chunking.count) send_chunk(index + 1);
    const Extent chunk = chunking.chunk(index);
    const std::size_t offset = chunk.begin * reducer.element_bytes, bytes = chunk.elements * reducer.element_bytes;
    PairExchange received = exchange(index);
    if (const Result result = receive(group, call, received); result != Result::ok) return result;
    combine(group, reducer, static_cast<const char*>(in) + offset, PairExchange::data(received.other, bytes),
            static_cast<char*>(out) + offset, chunk.elements);
  }
  return Result::ok;
}

// Through local copies: user functions want their operands aligned.
Result in_line(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
               const Reducer& reducer) {
  alignas(16) char own[16], other[16];
  const std::size_t bytes = elements * reducer.element_bytes;
  std::memcpy(own, in, bytes);
  if (const Result result = meet(group, call, own, other, bytes); result != Result::ok) return result;
  combine(group, reducer, own, other, out, elements);
  return Result::ok;
}

}  // namespace

Result allreduce_pair(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                      const Reducer& reducer) {
  const std::size_t bytes = elements * reducer.element_bytes;
  if (bytes <= pair_line_bytes) {
    const Result result = in_line(group, call, in, out, elements, reducer);
    group.all_heard(call);
    return result;
  }
  const std::size_t chunk_bytes = std::min(group.selection().pair_chunk_bytes, group.shape().slot_bytes);
  CallCopies copies(group, Kind::allreduce, call, bytes, bytes, false);
  const Result result = bytes <= chunk_bytes ? at_once(group, call, in, out, elements, reducer)
                                             : in_chunks(group, call, in, out, elements, reducer);
  if (result == Result::ok) copies.end();
  group.all_heard(call);
  return result;
}

}  // namespace millrace::collective
