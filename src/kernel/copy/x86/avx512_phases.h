// The windows of a strided shape worked out in advance (StridedTable): one for every place ("phase") in a block, or in
// a stride when unpacking, where a window of 64 bytes may begin. Windows begin at cache lines of what is written, so
// which phase comes first is known only at the call; the others follow one after the other, `line_bytes` on.
#pragma once

#include "kernel/copy/copy_set.h"
#include "kernel/copy/x86/avx512_windows.h"

namespace millrace::kernel {
namespace {

inline constexpr std::size_t most_phases = 16;

template <std::size_t LaneBytes>
struct Phases {
  using L = Lanes<LaneBytes>;

  __m512i index[most_phases];
  typename L::Mask mask[most_phases];
  int offset_bytes[most_phases];  // of the first load, from the block that the window begins in
};

struct PreparedShape {
  unsigned char lane_bytes;
  unsigned char period;
  unsigned char whole_vectors, cut_vectors;  // packing: of windows that begin with a block, and of any
};

template <std::size_t LaneBytes>
struct PreparedTable {
  PreparedShape shape;
  Phases<LaneBytes> phases;
};
static_assert(sizeof(PreparedTable<4>) <= sizeof(StridedTable) && sizeof(PreparedTable<2>) <= sizeof(StridedTable));

template <class Table>
inline Table& prepared_as(StridedTable& table) {
  return *static_cast<Table*>(static_cast<void*>(table.bytes));
}
template <class Table>
inline const Table& prepared_as(const StridedTable& table) {
  return *static_cast<const Table*>(static_cast<const void*>(table.bytes));
}

// The windows of a call from the first phase on: `unit_bytes` is what repeats on the side that is written (a block, or
// a stride when unpacking), `other_bytes` its size on the side that is loaded.
template <std::size_t LaneBytes, std::size_t Most>
inline void take_windows(Windows<LaneBytes, Most>& table, const Phases<LaneBytes>& phases, std::size_t start_bytes,
                         std::size_t unit_bytes, std::ptrdiff_t other_bytes) {
  std::ptrdiff_t block = 0;
  std::size_t within = start_bytes;
  for (std::size_t v = 0; v < table.period; ++v) {
    const std::size_t phase = within / LaneBytes;
    table.index[v] = phases.index[phase];
    table.mask[v] = phases.mask[phase];
    table.offset_bytes[v] = block * other_bytes + phases.offset_bytes[phase];
    if (v + 1 == table.period) return;
    for (within += line_bytes; within >= unit_bytes; within -= unit_bytes) ++block;
  }
}

}  // namespace
}  // namespace millrace::kernel
