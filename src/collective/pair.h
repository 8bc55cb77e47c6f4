// How two ranks meet. A line that one core wrote and another reads must cross between them, and before it can be
// written again its copies must be taken back: two crossings for a flag that always has the same writer. Two ranks can
// do better:
//
//   - flags of both in one line (PairLine): who comes to write finds the other's flag there;
//   - buffers that change hands: each rank writes the buffer that it read the time before, whose lines it has.
//
//     exchange    0        1        2
//     buffer A   0 -> 1   1 -> 0   0 -> 1       writer -> reader
//     buffer B   1 -> 0   0 -> 1   1 -> 0
//
//   A writer has read what it overwrites, so nothing else needs to be awaited.
#pragma once

#include "collective/algorithms.h"
#include "collective/data.h"

namespace millrace::collective {

// One buffer in the hands of this rank, one in the other's, for the message or chunk called `number`: buffers `index`,
// which are swapped in odd turns.
struct PairExchange {
  PairHead& own;
  PairHead& other;
  std::uint64_t number;

  PairExchange(Group& group, std::uint32_t index, std::uint64_t which, std::uint64_t turn)
      : own(group.pair_buffer(group.rank() ^ (turn & 1), index)),
        other(group.pair_buffer(1 - (group.rank() ^ (turn & 1)), index)),
        number(which) {}

  static char* data(PairHead& buffer, std::size_t bytes) {
    return bytes <= sizeof buffer.data ? buffer.data : reinterpret_cast<char*>(&buffer) + sizeof buffer;
  }
  // Where this rank puts `bytes` of a block, from `first` on, and where it finds so many: where they follow the head,
  // as they lay in their lines.
  char* place(const Data& sent, std::size_t first, std::size_t bytes) {
    if (bytes <= sizeof own.data) return own.data;
    own.phase = sent.row ? line_phase(static_cast<const char*>(sent.row) + first) : 0;
    return data(own, bytes) + own.phase;
  }
  const char* came(std::size_t bytes) const {
    if (bytes <= sizeof other.data) return other.data;
    return data(other, bytes) + shared_memory::read_once(other.phase) % line_bytes;
  }
  // data(own, bytes) is written.
  void send(Group& group, std::uint64_t label) {
    own.label = label;
    group.publish(own.sequence, number + 1);  // partner: acquire in receive() of the other rank
  }
  // Waits for data(other, bytes) and its label, which may be anything.
  Result receive(Group& group, std::uint64_t& label) {
    if (const Result result = group.wait(other.sequence, number + 1); result != Result::ok) return result;
    label = shared_memory::read_once(other.label);
    return Result::ok;
  }
};

// Both ranks pass here; each finds up to pair_line_bytes of the other in `other`. `bytes` may be 0.
Result meet(Group& group, const Call& call, const void* own, void* other, std::size_t bytes);

}  // namespace millrace::collective
