// Moving parts of messages (exchange.h) between their ends.
#pragma once

#include <cstddef>

#include "collective/exchange.h"

namespace millrace::collective {

// Bytes [first, first + length) of what is sent, into `packed`.
void pack(const Data& from, std::size_t first, std::size_t length, void* packed);
// The same into shared memory, for others: as the call under way copies (Group::leave()).
void leave(const Group& group, const Data& from, std::size_t first, std::size_t length, char* packed);
// The same of what is received, out of `packed`.
void unpack(const Data& to, std::size_t first, std::size_t length, const void* packed);
// What is received from byte `first` on, as a message of its own: as much of it as there is room for is kept.
struct DataPart {
  const Data* of;
  std::size_t first;
};
// `part` must outlive what is returned.
Data part_of(const Data& of, std::size_t first, std::size_t length, DataPart& part);

// The first `bytes` of a message whose two ends are in this process. Goes through `scratch` only where neither is a
// row.
void move_all(const Data& from, const Data& to, std::size_t bytes, void* scratch, std::size_t scratch_bytes);

// Bytes [first, first + length) of a message whose sending end is a row at `address` in the memory of `rank`, as
// Group::read_from().
Result read_part(Group& group, std::uint32_t rank, std::uint64_t address, const Data& to, std::size_t first,
                 std::size_t length);

}  // namespace millrace::collective
