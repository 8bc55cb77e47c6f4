// Strided shapes that were prepared: for which counts, and what becomes of them when the choice of kernels changes.
#include "kernel/copy/strided.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "kernel/copy/tuning.h"
#include "kernel/copy/units.h"

namespace millrace::kernel::test {
namespace {

TEST(Strided, TheCountsAreThoseOfTheChooser) {
  if (!active_copies().pack_prepared) GTEST_SKIP() << "nothing is prepared on " << active_copies().isa;
  CopyTuning tuning = default_copy_tuning();
  tuning.permute_from_bytes = 384;
  tuning.masked_to_touched_bytes = 12 << 10;
  use_copy_tuning(tuning);
  std::size_t prepared = 0;
  for (const std::size_t block : {1, 4, 6, 8, 12, 16, 40})
    for (const std::ptrdiff_t stride : {-12, 0, 5, 8, 12, 16, 24, 44, 100}) {
      const auto shape = std::make_unique<Strided>();
      if (!prepare_strided(*shape, block, stride)) continue;
      ++prepared;
      StridedTable table;
      const bool packs = active_copies().prepare_pack(table, block, stride);
      const bool unpacks = active_copies().prepare_unpack(table, block, stride);
      for (std::size_t count = 1; count < 4000; ++count) {
        const bool pack = choose_pack(active_copies(), block, stride, count) == CopyKernel::permute;
        const bool unpack = choose_unpack(active_copies(), block, stride, count) == CopyKernel::permute;
        ASSERT_EQ(count >= shape->pack_from_blocks && count <= shape->pack_to_blocks, packs && pack)
            << count << " blocks of " << block << " at " << stride;
        ASSERT_EQ(count >= shape->unpack_from_blocks && count <= shape->unpack_to_blocks, unpacks && unpack)
            << count << " blocks of " << block << " at " << stride;
      }
    }
  use_copy_tuning(default_copy_tuning());
  EXPECT_GT(prepared, 5u);
}

TEST(Strided, AChangeOfUnitOrTuningIsNoticed) {
  const auto shape = std::make_unique<Strided>();
  if (!prepare_strided(*shape, 8, 12)) GTEST_SKIP() << "nothing is prepared on " << active_copies().isa;
  std::vector<char> blocks(12 * 500), packed(8 * 500), expected(8 * 500);
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<char>(i * 31 + i / 256);
  for (std::size_t i = 0; i < 500; ++i) std::memcpy(&expected[8 * i], &blocks[12 * i], 8);
  EXPECT_EQ(shape->epoch, choices_epoch.load());
  // What was prepared must not run any more: there is nothing behind these.
  shape->pack = nullptr;
  shape->unpack = nullptr;
  const auto expect_right = [&] {
    EXPECT_NE(shape->epoch, choices_epoch.load());
    std::fill(packed.begin(), packed.end(), 0);
    pack_strided(packed.data(), blocks.data(), *shape, 500);
    EXPECT_EQ(packed, expected);
    std::vector<char> back(blocks.size(), 0);
    unpack_strided(back.data(), packed.data(), *shape, 500);
    pack_strided(packed.data(), back.data(), 8, 12, 500);
    EXPECT_EQ(packed, expected);
  };
  use_isa("scalar");
  expect_right();
  use_isa("auto");
  expect_right();
  EXPECT_TRUE(prepare_strided(*shape, 8, 12));
  shape->pack = nullptr;
  shape->unpack = nullptr;
  use_copy_tuning(default_copy_tuning());
  expect_right();
}

TEST(Indexed, InShortListsItIsTheSame) {
  CopyTuning tuning = default_copy_tuning();
  for (const std::size_t count : {std::size_t{100}, std::size_t{2048}, std::size_t{2049}, std::size_t{10000}}) {
    std::vector<std::ptrdiff_t> places(count);
    for (std::size_t i = 0; i < count; ++i) places[i] = static_cast<std::ptrdiff_t>(i * 7919 % count * 24);
    std::vector<char> packed(12 * count);
    for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = static_cast<char>(i * 13 + i / 256);
    std::vector<char> expected(24 * count, 0);
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(&expected[static_cast<std::size_t>(places[i])], &packed[12 * i], 12);
    for (const std::size_t from : {std::size_t{0}, std::size_t{5000}, std::size_t{1} << 30}) {
      tuning.fetch_unpacked_from_blocks = from;
      use_copy_tuning(tuning);
      std::vector<char> blocks(24 * count, 0);
      unpack_indexed(blocks.data(), packed.data(), places.data(), 12, count);
      EXPECT_EQ(blocks, expected) << count << " blocks, fetched from " << from;
    }
  }
  use_copy_tuning(default_copy_tuning());
}

}  // namespace
}  // namespace millrace::kernel::test
