// A row that one rank reads out of another's memory (single_copy.h), and that both of them copy: the reader reads parts
// from its front, while the owner, who would only wait, writes parts from its end into the reader's memory.
//
//   reader                                           owner
//   where it wants the row; parts = 0 .. count
//   takes parts from the front, reads them           takes parts from the end, writes them
//   none left: waits for what the owner took  <---   written
//
// Parts are taken by compare and exchange, so nobody waits for one who does not come: the reader of an owner that never
// looks reads all. A reader that gives up takes all that is left first, and goes only when what the owner took is
// written, or the owner is dead: nothing is written to memory that its call has given back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collective/group.h"

namespace millrace::collective {

// Rows of an exchange and of a Bcast have numbers of their own; 40 bits are more than a run has calls.
constexpr std::uint64_t row_serial_of_letter(std::uint64_t sequence) { return (sequence << 1) & 0xffffffffff; }
constexpr std::uint64_t row_serial_of_call(std::uint64_t number) { return ((number + 1) << 1 | 1) & 0xffffffffff; }

// The reader's end of a row of `owner`. The row's memory and its own belong to the call until close().
class RowReading {
 public:
  struct Part {
    std::size_t first = 0, length = 0;
  };
  enum class Rest { under_way, written, failed };

  // From now on the owner may write to `to`.
  void open(Group& group, std::uint32_t owner, std::uint64_t serial, void* to, std::size_t bytes);
  bool is_open() const { return serial_ != 0; }
  // The next bytes that this rank is to read, in order; length 0: there are none left.
  Part take(Group& group, std::uint32_t owner);
  // Then: whether the owner has written what it took. failed: it could not, and all from the first byte that this rank
  // has not read is still to be read. Whoever sleeps asks with sequentially consistent loads, as this one does.
  Rest rest(Group& group, std::uint32_t owner) const;
  // Ends it, whatever was done: waits until the owner writes no more.
  void close(Group& group, std::uint32_t owner);

 private:
  std::uint64_t serial_ = 0;
  std::size_t bytes_ = 0, part_bytes_ = 0, read_parts_ = 0, end_ = 0;
};

// The owner's end of a row for `reader`.
class RowWriting {
 public:
  void begin(std::uint64_t serial, const void* row, std::size_t bytes) { *this = RowWriting{serial, row, bytes}; }
  // Writes a part, if the reader wants that and there is one. Whether anything was done.
  bool help(Group& group, std::uint32_t reader);

  RowWriting() = default;

 private:
  RowWriting(std::uint64_t serial, const void* row, std::size_t bytes)
      : serial_(serial), row_(static_cast<const char*>(row)), bytes_(bytes) {}

  std::uint64_t serial_ = 0;  // 0: it writes no (more) parts
  const char* row_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t written_ = 0;  // parts
};

// Reads a whole row at `address` in the memory of `owner`, as Group::read_from(), with its help if it gives any.
Result read_shared(Group& group, std::uint32_t owner, std::uint64_t serial, std::uint64_t address, void* to,
                   std::size_t bytes);

}  // namespace millrace::collective
