// Allgather and Alltoall of two ranks: each sends the other one block. A few bytes go in one line, with how many they
// are; up to a chunk in buffers that change hands (pair.h), and longer blocks alternate between two such buffers, or
// are copied once, out of their sender's memory.
#include <algorithm>
#include <cstring>
#include <utility>

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

std::size_t chunk_bytes(const Group& group) {
  return std::min<std::size_t>(group.selection().pair_chunk_bytes, group.shape().slot_bytes);
}

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

// Blocks of up to a chunk: one message each way.
Result in_one_buffer(Group& group, const Call& call, const Blocks& blocks, std::uint32_t other) {
  CallCopies copies(group, blocks.kind, call, blocks.bytes, blocks.bytes, false);
  PairExchange exchange(group, 0, group.exchanges, group.exchanges);
  const Data& sent = blocks.sent_to(other);
  leave(group, sent, 0, blocks.bytes, exchange.place(sent, 0, blocks.bytes));
  exchange.send(group, call.label ^ blocks.bytes);
  const bool own_truncated = move_own(group, blocks);
  std::uint64_t label = 0;
  if (const Result result = exchange.receive(group, label); result != Result::ok) return result;
  const std::uint64_t bytes = label ^ call.label;
  if (bytes > chunk_bytes(group)) return group.fail(Result::mismatch);
  const bool truncated = take(blocks.received[other], bytes, exchange.came(bytes));
  ++group.exchanges;
  copies.end();
  return truncated || own_truncated ? Result::truncated : Result::ok;
}

// Longer ones, in messages that say how many bytes the whole block has, and one of these of it:
//
//   chunk    the next one. As in Allreduce it is sent before the other's last one is awaited
//   row      with the first message, where one copy was cheaper of late: where the block lies in this rank's memory. No
//            message is sent ahead then
//   answer   to a row, with the first message after it: taken, or refused, because it may not be read; then all chunks
//            follow, in the messages after that
//
// Both know from the first messages, and from what is refused, how many there will be: the same number each way. Where
// the program is wrong and one block is longer, both go on to the end of that.
class InBuffers {
 public:
  InBuffers(Group& group, const Call& call, const Blocks& blocks, std::uint32_t other)
      : group_(group),
        call_(call),
        copies_(group, blocks.kind, call, blocks.bytes, blocks.bytes, true),
        other_(other),
        sent_(blocks.sent_to(other)),
        received_(blocks.received[other]),
        chunk_(chunk_bytes(group)),
        first_(group.pair_chunks) {
    own_.bytes = blocks.bytes;
    own_.is_row = sent_.row && copies_.are_one() && group.reads_memory() && call.number >= group.pair_rows_again;
  }

  Result run(const Blocks& blocks) {
    std::uint64_t messages = own_.is_row ? 1 : chunks(own_);  // until the other's first one has come
    send();
    const bool own_truncated = move_own(group_, blocks);
    for (std::uint64_t index = 0; index < messages; ++index) {
      if (sent_count_ == index) send();
      if (sends_ahead() && sent_count_ == index + 1 && sent_count_ < messages) send();
      if (const Result result = receive(index); result != Result::ok) return result;
      messages = std::max(last_of(own_, came_), last_of(came_, own_)) + 1;
    }
    group_.pair_chunks = first_ + messages;
    copies_.end();
    return came_.bytes > received_.bytes || own_truncated ? Result::truncated : Result::ok;
  }

 private:
  // Of a label, above the bytes.
  static constexpr std::uint64_t row = std::uint64_t{1} << 40, taken = row << 1, refused = row << 2;
  static constexpr std::uint64_t calls_without_rows = 64;

  // What one of the two sends.
  struct Way {
    std::uint64_t bytes = 0;
    bool is_row = false, is_refused = false;
    // Its message with the answer to a row of the other.
    std::uint64_t answer() const { return is_row ? 1 : 2; }
  };

  std::uint64_t chunks(const Way& way) const { return std::max<std::uint64_t>((way.bytes + chunk_ - 1) / chunk_, 1); }
  // The message with its first chunk.
  static std::uint64_t start(const Way& way, const Way& other) { return way.is_refused ? other.answer() + 1 : 0; }
  std::uint64_t last_of(const Way& way, const Way& other) const {
    std::uint64_t last = other.is_row ? way.answer() : 0;
    if (!way.is_row || way.is_refused) last = std::max(last, start(way, other) + chunks(way) - 1);
    return last;
  }
  bool sends_ahead() const { return !own_.is_row || own_.is_refused; }

  PairExchange buffers(std::uint64_t index) const {
    const std::uint64_t number = first_ + index;
    return PairExchange(group_, 1 + static_cast<std::uint32_t>(number % 2), number, number / 2);
  }

  std::uint64_t length(const Way& way, std::uint64_t chunk) const {
    const std::uint64_t begin = chunk * chunk_;
    return begin >= way.bytes ? 0 : std::min<std::uint64_t>(way.bytes - begin, chunk_);
  }

  void send() {
    const std::uint64_t index = sent_count_++;
    PairExchange exchange = buffers(index);
    std::uint64_t label = own_.bytes | std::exchange(answer_, 0);
    if (own_.is_row && index == 0) {
      const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(sent_.row));
      std::memcpy(exchange.own.data, &address, sizeof address);
      label |= row;
    } else if (sends_ahead() && index >= start(own_, came_)) {
      const std::uint64_t chunk = index - start(own_, came_);
      if (const std::size_t bytes = length(own_, chunk); bytes != 0)
        leave(group_, sent_, chunk * chunk_, bytes, exchange.place(sent_, chunk * chunk_, bytes));
    }
    exchange.send(group_, call_.label ^ label);
  }

  Result receive(std::uint64_t index) {
    PairExchange exchange = buffers(index);
    std::uint64_t label = 0;
    if (const Result result = exchange.receive(group_, label); result != Result::ok) return result;
    label ^= call_.label;
    const std::uint64_t bytes = label & (row - 1), marks = label & ~(row - 1);
    const bool is_first = index == 0, is_answer = own_.is_row && !is_first && index == came_.answer();
    if (bytes > most_block_bytes || (!is_first && bytes != came_.bytes) ||
        (is_first    ? marks != 0 && marks != row
         : is_answer ? marks != taken && marks != refused
                     : marks != 0))
      return group_.fail(Result::mismatch);
    if (is_first) {
      came_.bytes = bytes;
      came_.is_row = marks == row;
      if (came_.is_row) return take_row(exchange);
    }
    if (is_answer && marks == refused) {
      own_.is_refused = true;
      group_.pair_rows_again = call_.number + calls_without_rows;
    }
    if ((came_.is_row && !came_.is_refused) || index < start(came_, own_)) return Result::ok;
    const std::uint64_t chunk = index - start(came_, own_), begin = chunk * chunk_;
    const std::size_t room = begin >= received_.bytes ? 0 : received_.bytes - begin, part = length(came_, chunk);
    if (part != 0) unpack(received_, begin, std::min(part, room), exchange.came(part));
    return Result::ok;
  }

  Result take_row(const PairExchange& exchange) {
    std::uint64_t address = 0;
    std::memcpy(&address, exchange.other.data, sizeof address);
    const Result result =
        read_part(group_, other_, address, received_, 0, std::min<std::size_t>(came_.bytes, received_.bytes));
    if (result != Result::ok && result != Result::not_supported) return group_.fail(result);
    came_.is_refused = result != Result::ok;
    answer_ = came_.is_refused ? refused : taken;
    return Result::ok;
  }

  Group& group_;
  const Call& call_;
  CallCopies copies_;
  const std::uint32_t other_;
  const Data &sent_, &received_;
  const std::size_t chunk_;
  const std::uint64_t first_;
  Way own_, came_;
  std::uint64_t sent_count_ = 0, answer_ = 0;
};

}  // namespace

Result blocks_pair(Group& group, const Call& call, const Blocks& blocks) {
  const std::uint32_t other = 1 - group.rank();
  const Result result = blocks.bytes <= block_line_bytes     ? in_line(group, call, blocks, other)
                        : blocks.bytes <= chunk_bytes(group) ? in_one_buffer(group, call, blocks, other)
                                                             : InBuffers(group, call, blocks, other).run(blocks);
  group.all_heard(call);
  return result;
}

}  // namespace millrace::collective
