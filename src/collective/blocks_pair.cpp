// Allgather and Alltoall of two ranks: each sends the other one block. A few bytes go in one line, with how many they
// are; up to a chunk in buffers that change hands (pair.h), and longer blocks alternate between two such buffers.
#include <cstring>

#include "collective/blocks.h"
#include "collective/call_copies.h"
#include "collective/pair.h"
#include "shared_memory/read_once.h"

namespace millrace::collective {
namespace {

struct InLine {
  char data[block_line_bytes];
  std::uint32_t bytes;
};
static_assert(sizeof(InLine) <= pair_line_bytes);

// Whether more came than there is room for.
bool take(const Data& to, std::size_t bytes, const char* from) {
  unpack(to, 0, std::min(bytes, to.bytes), from);
  return bytes > to.bytes;
}

Result in_line(Group& group, const Call& call, const Blocks& blocks, std::uint32_t other) {
  const Data& sent = blocks.sent_to(other);
  InLine own{{}, static_cast<std::uint32_t>(blocks.bytes)}, came{};
  pack(sent, 0, blocks.bytes, own.data);
  const bool own_truncated = move_own(group, blocks);
  if (const Result result = meet(group, call, &own, &came, sizeof own); result != Result::ok) return result;
  if (came.bytes > block_line_bytes) return group.fail(Result::mismatch);
  const bool truncated = take(blocks.received[other], came.bytes, came.data);
  return truncated || own_truncated ? Result::truncated : Result::ok;
}

// Each message says how many bytes the whole block has. As in Allreduce, the next chunk is sent before the last is
// awaited. Where the program is wrong and one block is longer, both ranks go on to the end of that.
Result in_buffers(Group& group, const Call& call, const Blocks& blocks, std::uint32_t other) {
  CallCopies copies(group, blocks.kind, call, blocks.bytes, blocks.bytes, false);
  const std::size_t chunk = std::min(group.selection().pair_chunk_bytes, group.shape().slot_bytes);
  const bool at_once = blocks.bytes <= chunk;
  std::uint64_t& numbers = at_once ? group.exchanges : group.pair_chunks;
  const std::uint64_t first = numbers;
  const Data &sent = blocks.sent_to(other), &received = blocks.received[other];
  const auto buffers = [&](std::uint64_t index) {
    const std::uint64_t number = first + index;
    if (at_once) return PairExchange(group, 0, number, number);
    return PairExchange(group, 1 + static_cast<std::uint32_t>(number % 2), number, number / 2);
  };
  const auto length = [chunk](std::uint64_t bytes, std::uint64_t index) {
    const std::uint64_t begin = index * chunk;
    return begin >= bytes ? 0 : std::min<std::uint64_t>(bytes - begin, chunk);
  };
  const auto send = [&](std::uint64_t index) {
    PairExchange exchange = buffers(index);
    const std::size_t bytes = length(blocks.bytes, index);
    leave(group, sent, index * chunk, bytes, exchange.place(sent, index * chunk, bytes));
    exchange.send(group, call.label ^ blocks.bytes);
  };
  std::uint64_t count = (blocks.bytes + chunk - 1) / chunk, came = 0;
  send(0);
  const bool own_truncated = move_own(group, blocks);
  for (std::uint64_t index = 0; index < count; ++index) {
    if (index + 1 < count) send(index + 1);  // of one message there is no other, on neither side
    PairExchange exchange = buffers(index);
    std::uint64_t label = 0;
    if (const Result result = exchange.receive(group, label); result != Result::ok) return result;
    const std::uint64_t bytes = label ^ call.label;
    if (bytes > most_block_bytes || (index != 0 && bytes != came) || (at_once && bytes > chunk))
      return group.fail(Result::mismatch);
    if (index == 0) {
      came = bytes;
      count = std::max(count, (bytes + chunk - 1) / chunk);
    }
    const std::uint64_t begin = index * chunk;
    const std::size_t room = begin >= received.bytes ? 0 : received.bytes - begin;
    const std::size_t part = length(came, index);
    unpack(received, begin, std::min(part, room), exchange.came(part));
  }
  numbers = first + count;
  copies.end();
  return came > received.bytes || own_truncated ? Result::truncated : Result::ok;
}

}  // namespace

Result blocks_pair(Group& group, const Call& call, const Blocks& blocks) {
  const std::uint32_t other = 1 - group.rank();
  const Result result =
      blocks.bytes <= block_line_bytes ? in_line(group, call, blocks, other) : in_buffers(group, call, blocks, other);
  group.all_heard(call);
  return result;
}

}  // namespace millrace::collective
