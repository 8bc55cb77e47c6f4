// Packing by the plans of lane_plan.h: the loop around them. Vector says what a unit's vectors do with lanes of 4
// bytes.
#pragma once

#include "kernel/copy/generic/lane_plan.h"
#include "kernel/copy/generic/moves.h"

namespace millrace::kernel {
namespace {

// Both return how many of the blocks, from the first on, are done.
using PackGroups = std::size_t (*)(char* to, const char* from, std::size_t block_count);
using UnpackGroups = std::size_t (*)(char* to, const char* from, std::size_t block_count);

inline bool has_gap(std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
  return block_bytes > 0 && stride_bytes > static_cast<std::ptrdiff_t>(block_bytes);
}

// Groups of which every load stays in the source and every store in the packed bytes.
inline std::size_t groups_within(std::size_t source_bytes, std::size_t load_bytes, std::size_t source_advance_bytes,
                                 std::size_t packed_bytes, std::size_t store_bytes, std::size_t packed_advance_bytes) {
  if (source_bytes < load_bytes || packed_bytes < store_bytes) return 0;
  const std::size_t by_source = (source_bytes - load_bytes) / source_advance_bytes;
  const std::size_t by_packed = (packed_bytes - store_bytes) / packed_advance_bytes;
  return (by_source < by_packed ? by_source : by_packed) + 1;
}

template <class Vector, int Block, int Stride>
struct LaneGroups {
  using Register = typename Vector::Register;
  static constexpr auto plan = best_lane_plan<Vector::lanes>(Block, Stride);
  static constexpr std::size_t packed_bytes = std::size_t{4} * plan.blocks * Block;
  static constexpr std::size_t advance_bytes = std::size_t{4} * plan.blocks * Stride;

  template <int Load>
  static Register laid_over(Register below, const char* from) {
    if constexpr (Load == plan.loads)
      return below;
    else
      return laid_over<Load + 1>(
          Vector::template blend<plan.taken[Load]>(below, Vector::load(from + 4 * plan.first_lane[Load])), from);
  }
  static void group(char* to, const char* from) {
    Register lanes = laid_over<1>(Vector::load(from), from);
    if constexpr (!plan.in_order) lanes = Vector::template permute<LaneGroups>(lanes);
    Vector::store(to, lanes);
  }

  static std::size_t pack(char* to, const char* from, std::size_t block_count) {
    if (block_count == 0) return 0;
    const std::size_t groups =
        groups_within(((block_count - 1) * Stride + Block) * 4, std::size_t{4} * plan.reach(), advance_bytes,
                      block_count * Block * 4, std::size_t{4} * Vector::lanes, packed_bytes);
    std::size_t left = groups;
    for (; left >= 4; left -= 4, to += 4 * packed_bytes, from += 4 * advance_bytes) {
      group(to, from);
      group(to + packed_bytes, from + advance_bytes);
      group(to + 2 * packed_bytes, from + 2 * advance_bytes);
      group(to + 3 * packed_bytes, from + 3 * advance_bytes);
    }
    for (; left > 0; --left, to += packed_bytes, from += advance_bytes) group(to, from);
    return groups * plan.blocks;
  }
};

// By lanes of a block and lanes of a stride. Two blocks in one load at least: else each block costs a load, as without
// shuffles.
template <class Vector>
struct LaneGroupsTable {
  static constexpr int most_stride = Vector::lanes - 1;
  PackGroups pack[Vector::lanes / 2][most_stride + 1] = {};

  template <int Block, int Stride>
  constexpr void fill() {
    if constexpr (Stride > Block && Block + Stride <= Vector::lanes)
      pack[Block][Stride] = LaneGroups<Vector, Block, Stride>::pack;
    if constexpr (Stride < most_stride)
      fill<Block, Stride + 1>();
    else if constexpr (Block + 1 < Vector::lanes / 2)
      fill<Block + 1, Block + 2>();
  }
  constexpr LaneGroupsTable() { fill<1, 2>(); }

  // Null: there is none for this shape.
  PackGroups of(std::size_t block_bytes, std::size_t stride_bytes) const {
    if ((block_bytes | stride_bytes) % 4 || block_bytes >= 2 * Vector::lanes || stride_bytes > 4 * most_stride)
      return nullptr;
    return pack[block_bytes / 4][stride_bytes / 4];
  }
};

}  // namespace
}  // namespace millrace::kernel
