#include "kernel/copy/tuning.h"

namespace millrace::kernel {
namespace {

std::size_t magnitude(std::ptrdiff_t stride) { return static_cast<std::size_t>(stride < 0 ? -stride : stride); }

bool has(const CopySet& set, CopyKernel kernel) { return set.pack_strided[static_cast<std::size_t>(kernel)]; }

// Shuffles work on lanes: any of 1, 2 and 4 bytes that the set has and that divides blocks and strides.
bool in_lanes(const CopySet& set, std::size_t block_bytes, std::size_t stride) {
  return set.permute_lane_bytes && block_bytes % set.permute_lane_bytes == 0 && stride % set.permute_lane_bytes == 0;
}

Shuffle pack_shuffle(const CopySet& set, std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
  if (!has(set, CopyKernel::permute)) return Shuffle::none;
  if (set.fits_pack) return set.fits_pack(block_bytes, stride_bytes);
  // The source of a window of 64 packed bytes must fit in four vectors.
  const std::size_t stride = magnitude(stride_bytes);
  const bool fits = in_lanes(set, block_bytes, stride) && stride > 0 && (64 / block_bytes) * stride <= 256;
  return fits ? Shuffle::by_table : Shuffle::none;
}

// Asked first: short calls are not to pay for the other questions. Never true for no bytes.
bool may_pay(const CopyTuning& tuning, std::size_t total_bytes) {
  return total_bytes > 0 &&
         (total_bytes >= tuning.fixed_permute_from_bytes || total_bytes >= tuning.permute_from_bytes);
}
bool pays(const CopyTuning& tuning, Shuffle shuffle, std::size_t total_bytes) {
  return shuffle != Shuffle::none &&
         total_bytes >= (shuffle == Shuffle::fixed ? tuning.fixed_permute_from_bytes : tuning.permute_from_bytes);
}

// Of the sizes of registers: 24 bytes are 16 and 8. Longer blocks are two vectors that overlap.
std::size_t moves_of(std::size_t block_bytes) {
  return block_bytes <= 32 ? static_cast<std::size_t>(__builtin_popcountll(block_bytes)) : 2;
}

Shuffle unpack_shuffle(const CopySet& set, const CopyTuning& tuning, std::size_t block_bytes,
                       std::ptrdiff_t stride_bytes) {
  if (stride_bytes <= 0 || !set.unpack_strided[static_cast<std::size_t>(CopyKernel::permute)]) return Shuffle::none;
  const std::size_t stride = magnitude(stride_bytes);
  const std::size_t from_moves = set.fits_unpack ? tuning.short_masked_from_moves : tuning.masked_from_moves_a_vector;
  if (from_moves == 0 || stride * from_moves > 64 * moves_of(block_bytes)) return Shuffle::none;
  if (set.fits_unpack) return set.fits_unpack(block_bytes, stride_bytes);
  return in_lanes(set, block_bytes, stride) ? Shuffle::by_table : Shuffle::none;
}

bool is_power_of_two(std::size_t value) { return (value & (value - 1)) == 0; }

// With any instruction set but the plain one: other sizes have two stores in each line as they are.
bool is_one_store(std::size_t block_bytes) {
  return block_bytes == 4 || block_bytes == 8 || block_bytes == 16 || block_bytes == 32;
}
// Of a first cache of 64 sets: a multiple of 512 bytes, but none of 1024, where storing twice gains nothing.
bool falls_into_few_sets(std::size_t stride) { return stride % 1024 == 512; }

}  // namespace

CopyKernel choose_pack(const CopySet& set, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                       std::size_t block_count) {
  const CopyTuning& tuning = copy_tuning();
  const std::size_t total = block_bytes * block_count;
  if (block_bytes <= tuning.permute_pack_to_block_bytes && may_pay(tuning, total) &&
      pays(tuning, pack_shuffle(set, block_bytes, stride_bytes), total))
    return CopyKernel::permute;
  if (has(set, CopyKernel::wide) && block_bytes < 32 && stride_bytes > 0 && !is_power_of_two(block_bytes))
    return CopyKernel::wide;
  return CopyKernel::blocks;
}

CopyKernel choose_unpack(const CopySet& set, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                         std::size_t block_count) {
  const CopyTuning& tuning = copy_tuning();
  const std::size_t stride = magnitude(stride_bytes), total = block_bytes * block_count;
  if (block_count >= tuning.twice_from_blocks && falls_into_few_sets(stride) && is_one_store(block_bytes))
    return CopyKernel::twice;
  if (may_pay(tuning, total) && pays(tuning, unpack_shuffle(set, tuning, block_bytes, stride_bytes), total) &&
      stride * block_count <= tuning.masked_to_touched_bytes)
    return CopyKernel::permute;
  return CopyKernel::blocks;
}

CopyKernel choose_pack_pattern(const CopySet& set, const Pattern& pattern, std::size_t repetitions) {
  const bool shuffles = set.pack_pattern[static_cast<std::size_t>(CopyKernel::permute)] &&
                        pattern.group_repetitions > 0 && pattern.lane_bytes >= set.permute_lane_bytes;
  // Vectors of 16 bytes gain less than those of 64, and it takes longer until that makes up for the table.
  const std::size_t from_bytes = copy_tuning().permute_from_bytes * (set.fits_pack ? 4 : 1);
  const bool pays = pattern.packed_bytes * repetitions >= from_bytes;
  return shuffles && pays ? CopyKernel::permute : CopyKernel::blocks;
}

CopyKernel choose_unpack_pattern(const CopySet& set, const Pattern& pattern, std::size_t repetitions) {
  const CopyTuning& tuning = copy_tuning();
  const bool shuffles = set.unpack_pattern[static_cast<std::size_t>(CopyKernel::permute)] &&
                        pattern.disjoint_repetitions && pattern.lane_bytes >= set.permute_lane_bytes;
  const bool pays = tuning.masked_from_moves_a_vector > 0 &&
                    pattern.packed_bytes * repetitions >= 2 * tuning.permute_from_bytes &&
                    magnitude(pattern.extent_bytes) * repetitions <= tuning.masked_to_touched_bytes;
  return shuffles && pays ? CopyKernel::permute : CopyKernel::blocks;
}

const char* pack_kernel_name(CopyKernel kernel) {
  switch (kernel) {
    case CopyKernel::blocks: return "pack_blocks";
    case CopyKernel::wide: return "pack_wide";
    case CopyKernel::permute: return "pack_permute";
    case CopyKernel::gather: return "pack_gather";
    case CopyKernel::twice: return "";
  }
  return "";
}

const char* unpack_kernel_name(CopyKernel kernel) {
  switch (kernel) {
    case CopyKernel::blocks: return "unpack_blocks";
    case CopyKernel::wide: return "unpack_wide";
    case CopyKernel::permute: return "unpack_masked";
    case CopyKernel::gather: return "unpack_scatter";
    case CopyKernel::twice: return "unpack_twice";
  }
  return "";
}

}  // namespace millrace::kernel
