// Sizes of a group's segment, which all its ranks must know alike.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::collective {

struct GroupShape {
  std::uint32_t ranks = 0;          // 1 .. 1024
  std::uint32_t calls_ahead = 64;   // ring of small messages: so far may a root or leaf run ahead; a power of two, >= 2
  std::uint32_t cell_bytes = 4096;  // largest small message; a multiple of 128
  std::uint32_t slots = 8;          // ring of chunks for large messages; a power of two, >= 8
  std::uint32_t slot_bytes = 64 << 10;  // largest chunk; a multiple of 128
  std::uint32_t letters = 8;            // of each ordered pair of ranks, for exchanges; a power of two, or 0: none
  std::uint32_t unit_bytes = 4096;      // the outbox of a rank has 64 units of so many bytes; a multiple of 128
};

// A shape for so many ranks whose segment is not larger than `most_bytes`; ranks == 0 if there is none.
GroupShape shape_for(std::uint32_t ranks, std::size_t most_bytes);

bool valid(const GroupShape& shape);
std::size_t segment_bytes(const GroupShape& shape);

struct OwnPart {
  std::size_t offset_bytes, bytes;
};
// The pages that `rank` touches first (rank 0's include the head of the segment): whole pages, disjoint, covering all.
OwnPart own_part(const GroupShape& shape, std::uint32_t rank);

}  // namespace millrace::collective
