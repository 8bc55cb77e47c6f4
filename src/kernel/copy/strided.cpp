#include "kernel/copy/strided.h"

#include "kernel/copy/tuning.h"
#include "kernel/copy/units.h"

namespace millrace::kernel {
namespace {

using Choose = CopyKernel (*)(const CopySet& set, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                              std::size_t block_count);

// No memory holds more.
constexpr std::size_t most_blocks = std::size_t{1} << 48;

struct Counts {
  std::size_t first = 1, last = 0;
};

// The chooser wants shuffles from some count on and, where they are slow in memory, up to another one. An interval
// without a power of two is not found, and loses nothing but the preparation.
Counts shuffled_counts(Choose choose, const CopySet& set, const Strided& shape) {
  const auto shuffles = [&](std::size_t count) {
    return choose(set, shape.block_bytes, shape.stride_bytes, count) == CopyKernel::permute;
  };
  // Between a count that is shuffled and one that is not: the last one that is.
  const auto limit = [&](std::size_t shuffled, std::size_t other) {
    for (std::size_t apart; (apart = shuffled < other ? other - shuffled : shuffled - other) > 1;) {
      const std::size_t middle = (shuffled < other ? shuffled : other) + apart / 2;
      (shuffles(middle) ? shuffled : other) = middle;
    }
    return shuffled;
  };
  std::size_t first = 1;
  while (first < most_blocks && !shuffles(first)) first *= 2;
  if (first >= most_blocks) return {};
  std::size_t last = first;
  while (last < most_blocks && shuffles(2 * last)) last *= 2;
  return {limit(first, first / 2), last < most_blocks ? limit(last, 2 * last) : ~std::size_t{0}};
}

}  // namespace

bool prepare_strided(Strided& shape, std::size_t block_bytes, std::ptrdiff_t stride_bytes) {
  // The epoch first: if a choice changes after this, what is prepared is out of date already.
  shape.epoch = choices_epoch.load(std::memory_order_acquire);
  const CopySet& set = active_copies();
  if (!set.pack_prepared || block_bytes == 0) return false;
  shape.block_bytes = block_bytes;
  shape.stride_bytes = stride_bytes;
  shape.pack = set.pack_prepared;
  shape.unpack = set.unpack_prepared;
  Counts pack = shuffled_counts(choose_pack, set, shape), unpack = shuffled_counts(choose_unpack, set, shape);
  if (pack.first <= pack.last && !set.prepare_pack(shape.pack_table, block_bytes, stride_bytes)) pack = {};
  if (unpack.first <= unpack.last && !set.prepare_unpack(shape.unpack_table, block_bytes, stride_bytes)) unpack = {};
  // Past the caches another way is taken, see copy.cpp.
  if (const std::size_t streamed = copy_tuning().stream_from_bytes / block_bytes; pack.last >= streamed)
    pack.last = streamed > 0 ? streamed - 1 : 0;
  shape.pack_from_blocks = pack.first;
  shape.pack_to_blocks = pack.last;
  shape.unpack_from_blocks = unpack.first;
  shape.unpack_to_blocks = unpack.last;
  return pack.first <= pack.last || unpack.first <= unpack.last;
}

}  // namespace millrace::kernel
