// What the chooser takes for a shape, on every unit that runs here, with a tuning of the test's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernel/copy/tuning.h"
#include "kernel/copy/units.h"

namespace millrace::kernel::test {
namespace {

constexpr CopyTuning tuning{.permute_from_bytes = 384,
                            .fixed_permute_from_bytes = 192,
                            .permute_pack_to_block_bytes = 16,
                            .masked_from_moves_a_vector = 3,
                            .short_masked_from_moves = 5,
                            .masked_to_touched_bytes = std::size_t{1} << 20,
                            .twice_from_blocks = 100,
                            .gather_lists = false,
                            .scatter_lists = false,
                            .fetch_unpacked_from_blocks = 0,
                            .listed_to_bytes = ~std::size_t{0},
                            .stream_from_bytes = ~std::size_t{0}};
constexpr CopyTuning tuning_without_masks = [] {
  CopyTuning changed = tuning;
  changed.short_masked_from_moves = 0;
  return changed;
}();

class Choose : public testing::Test {
 protected:
  Choose() { use_copy_tuning(tuning); }
  ~Choose() override { use_copy_tuning(default_copy_tuning()); }
};

const CopySet* set_named(const std::string& name) {
  const auto all = usable_copies();
  const auto found = std::find_if(all.begin(), all.end(), [&](const CopySet* set) { return set->isa == name; });
  return found == all.end() ? nullptr : *found;
}

std::string packs(const CopySet& set, std::size_t block, std::ptrdiff_t stride, std::size_t total = 8192) {
  return pack_kernel_name(choose_pack(set, block, stride, total / block));
}
std::string unpacks(const CopySet& set, std::size_t block, std::ptrdiff_t stride, std::size_t total = 8192) {
  return unpack_kernel_name(choose_unpack(set, block, stride, total / block));
}

#if defined(__x86_64__)
TEST_F(Choose, Avx2ShufflesWhereTwoBlocksAreInALoad) {
  const CopySet* const set = set_named("avx2");
  if (!set) GTEST_SKIP() << "no AVX2 here";
  EXPECT_EQ(packs(*set, 4, 8), "pack_permute");
  EXPECT_EQ(packs(*set, 4, 28), "pack_permute");
  EXPECT_EQ(packs(*set, 4, 32), "pack_blocks");
  EXPECT_EQ(packs(*set, 8, 24), "pack_permute");
  EXPECT_EQ(packs(*set, 8, 28), "pack_blocks");
  EXPECT_EQ(packs(*set, 12, 20), "pack_permute");
  EXPECT_EQ(packs(*set, 12, 24), "pack_wide");
  EXPECT_EQ(packs(*set, 16, 20), "pack_blocks");
  EXPECT_EQ(packs(*set, 3, 5), "pack_permute");
  EXPECT_EQ(packs(*set, 4, 10), "pack_permute");
  EXPECT_EQ(packs(*set, 3, 7), "pack_wide") << "two blocks in a load only";
  EXPECT_EQ(packs(*set, 4, -8), "pack_blocks");
  EXPECT_EQ(packs(*set, 4, 2), "pack_blocks");
  EXPECT_EQ(packs(*set, 4, 8, 192), "pack_permute");
  EXPECT_EQ(packs(*set, 4, 8, 188), "pack_blocks");
  EXPECT_EQ(packs(*set, 3, 5, 384), "pack_permute");
  EXPECT_EQ(packs(*set, 3, 5, 381), "pack_wide") << "a table that is made in each call";
}

TEST_F(Choose, Avx2UnpacksUnderAMaskWhereThatSavesStores) {
  const CopySet* const set = set_named("avx2");
  if (!set) GTEST_SKIP() << "no AVX2 here";
  EXPECT_EQ(unpacks(*set, 4, 8), "unpack_masked");
  EXPECT_EQ(unpacks(*set, 4, 12), "unpack_masked");
  EXPECT_EQ(unpacks(*set, 4, 16), "unpack_blocks");
  EXPECT_EQ(unpacks(*set, 8, 12), "unpack_masked");
  EXPECT_EQ(unpacks(*set, 8, 16), "unpack_blocks");
  EXPECT_EQ(unpacks(*set, 12, 24), "unpack_masked");
  EXPECT_EQ(unpacks(*set, 12, 32), "unpack_blocks");
  EXPECT_EQ(unpacks(*set, 3, 5), "unpack_blocks") << "there are no masked stores of bytes";
  EXPECT_EQ(unpacks(*set, 4, -8), "unpack_blocks");
  EXPECT_EQ(unpacks(*set, 8, 12, 2 << 20), "unpack_blocks") << "larger than masked_to_touched_bytes";
  use_copy_tuning(tuning_without_masks);
  EXPECT_EQ(unpacks(*set, 4, 8), "unpack_blocks");
}

TEST_F(Choose, StoresTwiceWhereFewSetsHaveAll) {
  for (const CopySet* const set : usable_copies()) {
    EXPECT_EQ(unpacks(*set, 8, 512), "unpack_twice") << set->isa;
    EXPECT_EQ(unpacks(*set, 16, 1536, 1600), "unpack_twice") << set->isa;
    EXPECT_EQ(unpacks(*set, 16, -2560, 1600), "unpack_twice") << set->isa;
    EXPECT_EQ(unpacks(*set, 8, 512, 792), "unpack_blocks") << set->isa << ": 99 blocks";
    EXPECT_EQ(unpacks(*set, 8, 1024), "unpack_blocks") << set->isa;
    EXPECT_EQ(unpacks(*set, 8, 520), "unpack_blocks") << set->isa;
    EXPECT_EQ(unpacks(*set, 4, 512), "unpack_twice") << set->isa;
    EXPECT_EQ(unpacks(*set, 32, 512), "unpack_twice") << set->isa;
    EXPECT_EQ(unpacks(*set, 12, 512), "unpack_blocks") << set->isa << ": two stores anyway";
    EXPECT_EQ(unpacks(*set, 64, 512), "unpack_blocks") << set->isa;
    EXPECT_EQ(packs(*set, 8, 512), "pack_blocks") << set->isa;
  }
}

TEST_F(Choose, Sse42PacksByShufflesAndUnpacksByBlocks) {
  const CopySet* const set = set_named("sse42");
  if (!set) GTEST_SKIP() << "no SSE4.2 here";
  EXPECT_EQ(packs(*set, 4, 12), "pack_permute");
  EXPECT_EQ(packs(*set, 4, 16), "pack_blocks");
  EXPECT_EQ(packs(*set, 8, 12), "pack_blocks");
  EXPECT_EQ(packs(*set, 12, 16), "pack_wide");
  EXPECT_EQ(packs(*set, 3, 5), "pack_permute");
  EXPECT_EQ(packs(*set, 1, 15), "pack_permute");
  EXPECT_EQ(packs(*set, 1, 16), "pack_blocks");
  EXPECT_EQ(unpacks(*set, 4, 8), "unpack_blocks");
}
#elif defined(__aarch64__)
TEST_F(Choose, NeonShufflesShapesOfStructureLoadsAndOfOneVector) {
  const CopySet* const set = set_named("neon");
  ASSERT_TRUE(set);
  EXPECT_EQ(packs(*set, 4, 8), "pack_permute");
  EXPECT_EQ(packs(*set, 4, 16), "pack_permute");
  EXPECT_EQ(packs(*set, 4, 20), "pack_blocks");
  EXPECT_EQ(packs(*set, 8, 12), "pack_permute");
  EXPECT_EQ(packs(*set, 12, 16), "pack_permute");
  EXPECT_EQ(packs(*set, 8, 16), "pack_blocks");
  EXPECT_EQ(packs(*set, 3, 5), "pack_permute");
  EXPECT_EQ(packs(*set, 4, -8), "pack_blocks");
  EXPECT_EQ(unpacks(*set, 4, 8), "unpack_masked");
  EXPECT_EQ(unpacks(*set, 8, 12), "unpack_masked");
  EXPECT_EQ(unpacks(*set, 12, 16), "unpack_blocks");
  use_copy_tuning(tuning_without_masks);
  EXPECT_EQ(unpacks(*set, 4, 8), "unpack_blocks");
  EXPECT_EQ(default_copy_tuning().short_masked_from_moves, 0u) << "not measured on Arm";
}
#endif

TEST_F(Choose, StructsAreShuffledFromSomeSizeOn) {
  constexpr Piece pieces[] = {{0, 4}, {8, 8}, {16, 3}};
  Pattern pattern;
  prepare_pattern(pattern, pieces, 3, 24);
  for (const char* name : {"sse42", "avx2", "neon"})
    if (const CopySet* const set = set_named(name)) {
      EXPECT_EQ(choose_pack_pattern(*set, pattern, 102), CopyKernel::blocks) << name;
      EXPECT_EQ(choose_pack_pattern(*set, pattern, 103), CopyKernel::permute) << name;
      EXPECT_EQ(choose_unpack_pattern(*set, pattern, 1000), CopyKernel::blocks) << name;
    }
}

// Whatever the chooser is asked, what it answers exists.
TEST_F(Choose, WhatIsChosenIsThere) {
  for (const CopySet* set : usable_copies())
    for (std::size_t block = 1; block < 80; ++block)
      for (std::ptrdiff_t stride = -140; stride < 300; ++stride)
        for (const std::size_t count : {1, 100, 100000}) {
          const auto pack = static_cast<std::size_t>(choose_pack(*set, block, stride, count));
          const auto unpack = static_cast<std::size_t>(choose_unpack(*set, block, stride, count));
          ASSERT_TRUE(set->pack_strided[pack]) << set->isa << " " << block << " " << stride;
          ASSERT_TRUE(set->unpack_strided[unpack]) << set->isa << " " << block << " " << stride;
        }
}

}  // namespace
}  // namespace millrace::kernel::test
