// Every copy kernel of every unit that runs here against a plain loop over bytes: any block, stride, count and
// alignment, with guard pages where the source, the packed bytes and the destination end, and with marked gaps.
#include "kernel/copy/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "copy_space.h"
#include "kernel/copy/units.h"

namespace millrace::kernel::test {
namespace {

constexpr std::size_t space_bytes = 256 << 10;

struct Spaces {
  GuardedSpace blocks{space_bytes}, packed{space_bytes};
};

char pattern_at(std::size_t i) { return static_cast<char>((i * 167 + (i >> 8) * 29 + 11) & 0xff); }

// Blocks at displacements, in the order of packing.
struct Shape {
  std::string text;
  std::vector<Piece> pieces;
  std::ptrdiff_t lowest = 0, highest = 0;  // first byte, one past the last byte
  std::size_t packed_bytes = 0;

  void add(std::ptrdiff_t displacement, std::size_t bytes) {
    if (bytes == 0) return;
    lowest = pieces.empty() ? displacement : std::min(lowest, displacement);
    const std::ptrdiff_t end = displacement + static_cast<std::ptrdiff_t>(bytes);
    highest = pieces.empty() ? end : std::max(highest, end);
    pieces.push_back({displacement, bytes});
    packed_bytes += bytes;
  }
  std::size_t reach() const { return static_cast<std::size_t>(highest - lowest); }
};

struct Placement {
  bool blocks_at_end, packed_at_end;
  std::size_t blocks_slack, packed_slack;
};

template <class Pack>
void expect_packs(const Spaces& spaces, const Shape& shape, const Placement& where, Pack pack) {
  char* const lowest = spaces.blocks.place(shape.reach(), where.blocks_at_end, where.blocks_slack);
  char* const packed = spaces.packed.place(shape.packed_bytes, where.packed_at_end, where.packed_slack);
  for (std::size_t i = 0; i < shape.reach(); ++i) lowest[i] = pattern_at(i);
  constexpr char canary = 0x5a;
  const std::size_t before = where.packed_at_end ? 64 : std::min<std::size_t>(64, where.packed_slack);
  const std::size_t after = where.packed_at_end ? where.packed_slack : 64;
  std::memset(packed - before, canary, before + shape.packed_bytes + after);
  pack(packed, lowest - shape.lowest);
  std::size_t p = 0;
  for (const Piece& piece : shape.pieces)
    for (std::size_t i = 0; i < piece.bytes; ++i, ++p)
      ASSERT_EQ(packed[p], lowest[piece.displacement_bytes - shape.lowest + static_cast<std::ptrdiff_t>(i)])
          << shape.text << ", packed byte " << p;
  for (std::size_t i = 1; i <= before; ++i) ASSERT_EQ(packed[-static_cast<std::ptrdiff_t>(i)], canary) << shape.text;
  for (std::size_t i = 0; i < after; ++i) ASSERT_EQ(packed[p + i], canary) << shape.text << ", " << i << " bytes past";
}

template <class Unpack>
void expect_unpacks(const Spaces& spaces, const Shape& shape, const Placement& where, Unpack unpack) {
  char* const lowest = spaces.blocks.place(shape.reach(), where.blocks_at_end, where.blocks_slack);
  char* const packed = spaces.packed.place(shape.packed_bytes, where.packed_at_end, where.packed_slack);
  for (std::size_t i = 0; i < shape.packed_bytes; ++i) packed[i] = pattern_at(i);
  constexpr char gap = 0x33;
  const std::size_t before = where.blocks_at_end ? 64 : std::min<std::size_t>(64, where.blocks_slack);
  const std::size_t after = where.blocks_at_end ? where.blocks_slack : 64;
  std::vector<char> expected(before + shape.reach() + after, gap);
  std::memset(lowest - before, gap, expected.size());
  std::size_t p = 0;
  for (const Piece& piece : shape.pieces)
    for (std::size_t i = 0; i < piece.bytes; ++i, ++p)
      expected[before + static_cast<std::size_t>(piece.displacement_bytes - shape.lowest) + i] = packed[p];
  unpack(lowest - shape.lowest, packed);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(lowest[static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(before)], expected[i])
        << shape.text << ", byte " << i << " of " << shape.reach() << " after " << before;
}

// A few placements per shape, different ones from shape to shape.
template <class Check>
void each_placement(unsigned& turn, Check check) {
  constexpr std::size_t slacks[] = {0, 0, 1, 4, 8, 12, 16, 20, 31, 32, 48, 63};
  for (int i = 0; i < 2; ++i, turn += 7) {
    const std::size_t a = slacks[turn % 12], b = slacks[(turn / 12) % 12];
    check(Placement{(turn & 1) == 0, (turn & 2) == 0, a, b});
  }
}

Shape strided(std::size_t block, std::ptrdiff_t stride, std::size_t count) {
  Shape shape;
  shape.text = std::to_string(count) + " blocks of " + std::to_string(block) + " at " + std::to_string(stride);
  for (std::size_t i = 0; i < count; ++i) shape.add(static_cast<std::ptrdiff_t>(i) * stride, block);
  return shape;
}

#if defined(__aarch64__)
constexpr bool emulated = true;  // by qemu, in our tests: a part of the shapes
#else
constexpr bool emulated = false;
#endif

bool full() { return std::getenv("MILLRACE_TEST_FULL") != nullptr; }

class CopyUnit : public testing::TestWithParam<const CopySet*> {};

void check_strided(const CopySet& set, const Spaces& spaces, std::size_t block, std::ptrdiff_t stride,
                   std::size_t count, unsigned& turn) {
  const Shape shape = strided(block, stride, count);
  if (shape.reach() + 256 > space_bytes || shape.packed_bytes + 256 > space_bytes) return;
  const bool overlapping = static_cast<std::size_t>(std::abs(stride)) < block;
  StridedTable pack_table, unpack_table;
  const bool packs = set.prepare_pack && set.prepare_pack(pack_table, block, stride);
  const bool unpacks = set.prepare_unpack && set.prepare_unpack(unpack_table, block, stride);
  each_placement(turn, [&](const Placement& where) {
    SCOPED_TRACE(std::string(set.isa) + " prepared");
    if (packs && count > 0)
      expect_packs(spaces, shape, where, [&](void* packed, const void* base) {
        set.pack_prepared(packed, base, pack_table, block, stride, count);
      });
    if (unpacks && !overlapping && count > 0)
      expect_unpacks(spaces, shape, where, [&](void* base, const void* packed) {
        set.unpack_prepared(base, packed, unpack_table, block, stride, count);
      });
  });
  if (testing::Test::HasFatalFailure()) return;
  for (std::size_t kernel = 0; kernel < copy_kernel_count; ++kernel) {
    SCOPED_TRACE(std::string(set.isa) + " kernel " + std::to_string(kernel));
    each_placement(turn, [&](const Placement& where) {
      if (const PackStrided pack = set.pack_strided[kernel])
        expect_packs(spaces, shape, where,
                     [&](void* packed, const void* base) { pack(packed, base, block, stride, count); });
      if (const UnpackStrided unpack = set.unpack_strided[kernel]; unpack && !overlapping)
        expect_unpacks(spaces, shape, where,
                       [&](void* base, const void* packed) { unpack(base, packed, block, stride, count); });
    });
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST_P(CopyUnit, StridedOfEveryBlockAndStride) {
  const Spaces spaces;
  unsigned turn = 1;
  std::mt19937 random(4);
  for (std::size_t block = 1; block <= 72; ++block) {
    std::vector<std::ptrdiff_t> strides{0, 1, static_cast<std::ptrdiff_t>(block) / 2};
    for (const std::ptrdiff_t gap : {0, 1, 2, 4, 8, 12, 16, 24, 40, 64, 100, 136, 250}) {
      strides.push_back(static_cast<std::ptrdiff_t>(block) + gap);
      strides.push_back(-static_cast<std::ptrdiff_t>(block) - gap);
    }
    if (full())
      for (std::ptrdiff_t stride = -260; stride <= 260; ++stride) strides.push_back(stride);
    for (const std::ptrdiff_t stride : strides) {
      if (emulated && !full() && random() % 5) continue;
      std::vector<std::size_t> counts{random() % 9, 9 + random() % 40, 64 + random() % 64, 200 + random() % 200};
      for (const std::size_t count : counts) {
        check_strided(*GetParam(), spaces, block, stride, count, turn);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(CopyUnit, StridedOfLongBlocks) {
  const Spaces spaces;
  unsigned turn = 1;
  for (const std::size_t block : {73, 95, 96, 127, 128, 129, 160, 255, 256, 257, 384, 511, 512, 513, 640, 1000, 4096})
    for (const std::ptrdiff_t gap : {0, 1, 8, 64, 4000})
      for (const std::size_t count : {1, 2, 3, 5, 17})
        for (const std::ptrdiff_t sign : {-1, 1}) {
          check_strided(*GetParam(), spaces, block, sign * (static_cast<std::ptrdiff_t>(block) + gap), count, turn);
          if (HasFatalFailure()) return;
        }
}

TEST_P(CopyUnit, StridedOfManyBlocks) {
  const Spaces spaces;
  unsigned turn = 1;
  for (const std::size_t block : {1, 2, 3, 4, 8, 12, 20, 36})
    for (const std::ptrdiff_t gap : {0, 1, 2, 4, 8, 28})
      for (const std::size_t count : {1000, 2049, 4000})
        for (const std::ptrdiff_t sign : {-1, 1}) {
          check_strided(*GetParam(), spaces, block, sign * (static_cast<std::ptrdiff_t>(block) + gap), count, turn);
          if (HasFatalFailure()) return;
        }
}

// Blocks in random order at random distances.
std::vector<Piece> random_pieces(std::mt19937& random, std::size_t count, std::size_t least, std::size_t most) {
  std::vector<Piece> pieces;
  std::ptrdiff_t at = -100;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t bytes = least + random() % (most - least + 1);
    pieces.push_back({at, bytes});
    at += static_cast<std::ptrdiff_t>(bytes + random() % 20);
  }
  if (random() % 2) std::shuffle(pieces.begin(), pieces.end(), random);
  return pieces;
}

TEST_P(CopyUnit, Indexed) {
  const Spaces spaces;
  unsigned turn = 1;
  std::mt19937 random(5);
  for (std::size_t block = 0; block <= 600; block += block < 72 ? 1 : 33)
    for (const std::size_t count : {0, 1, 7, 8, 37, 90, block == 8 ? 5000 : 3}) {
      const std::vector<Piece> pieces = random_pieces(random, count, block, block);
      Shape shape;
      shape.text = std::to_string(count) + " listed blocks of " + std::to_string(block);
      std::vector<std::ptrdiff_t> displacements;
      for (const Piece& piece : pieces) {
        shape.add(piece.displacement_bytes, piece.bytes);
        displacements.push_back(piece.displacement_bytes);
      }
      for (std::size_t kernel = 0; kernel < copy_kernel_count; ++kernel)
        each_placement(turn, [&](const Placement& where) {
          if (const PackIndexed pack = GetParam()->pack_indexed[kernel])
            expect_packs(spaces, shape, where, [&](void* packed, const void* base) {
              pack(packed, base, displacements.data(), block, count);
            });
          if (const UnpackIndexed unpack = GetParam()->unpack_indexed[kernel])
            expect_unpacks(spaces, shape, where, [&](void* base, const void* packed) {
              unpack(base, packed, displacements.data(), block, count);
            });
        });
      if (HasFatalFailure()) return;
    }
}

TEST_P(CopyUnit, Pieces) {
  const Spaces spaces;
  unsigned turn = 1;
  std::mt19937 random(6);
  for (const std::size_t most : {1, 3, 8, 16, 40, 72, 130, 600, 3000})
    for (int i = 0; i < 60; ++i) {
      const std::vector<Piece> pieces = random_pieces(random, random() % 40, 0, most);
      Shape shape;
      shape.text = std::to_string(pieces.size()) + " pieces of up to " + std::to_string(most);
      for (const Piece& piece : pieces) shape.add(piece.displacement_bytes, piece.bytes);
      each_placement(turn, [&](const Placement& where) {
        expect_packs(spaces, shape, where, [&](void* packed, const void* base) {
          GetParam()->pack_pieces(packed, base, pieces.data(), pieces.size());
        });
        expect_unpacks(spaces, shape, where, [&](void* base, const void* packed) {
          GetParam()->unpack_pieces(base, packed, pieces.data(), pieces.size());
        });
      });
      if (HasFatalFailure()) return;
    }
}

TEST_P(CopyUnit, Patterns) {
  const Spaces spaces;
  unsigned turn = 1;
  std::mt19937 random(7);
  for (int i = 0; i < 700; ++i) {
    const std::size_t most = i % 3 == 0 ? 9 : i % 3 == 1 ? 24 : 80;
    std::vector<Piece> pieces = random_pieces(random, 1 + random() % 6, 0, most);
    if (i % 2)  // as structs have them: multiples of 4
      for (Piece& piece : pieces) {
        piece.bytes = piece.bytes / 4 * 4;
        piece.displacement_bytes *= 4;
      }
    std::ptrdiff_t lowest = pieces[0].displacement_bytes, highest = lowest;
    for (const Piece& piece : pieces) {
      lowest = std::min(lowest, piece.displacement_bytes);
      highest = std::max(highest, piece.displacement_bytes + static_cast<std::ptrdiff_t>(piece.bytes));
    }
    if (i % 5) {
      for (Piece& piece : pieces) piece.displacement_bytes -= lowest;
    }
    std::ptrdiff_t extent = highest - lowest + (i % 2 ? 4 : 1) * static_cast<std::ptrdiff_t>(random() % 6);
    if (i % 7 == 6) extent = -extent;
    Pattern pattern;
    prepare_pattern(pattern, pieces.data(), pieces.size(), extent);
    for (const std::size_t repetitions : {std::size_t{0}, std::size_t{1}, 2 + random() % 20, 40 + random() % 100}) {
      Shape shape;
      shape.text = std::to_string(repetitions) + " x " + std::to_string(pieces.size()) + " pieces at extent " +
                   std::to_string(extent) + " (pattern " + std::to_string(i) + ")";
      for (std::size_t r = 0; r < repetitions; ++r)
        for (const Piece& piece : pieces)
          shape.add(piece.displacement_bytes + static_cast<std::ptrdiff_t>(r) * extent, piece.bytes);
      if (shape.reach() + 256 > space_bytes) continue;
      for (std::size_t kernel = 0; kernel < copy_kernel_count; ++kernel)
        each_placement(turn, [&](const Placement& where) {
          if (const PackPattern pack = GetParam()->pack_pattern[kernel])
            expect_packs(spaces, shape, where,
                         [&](void* packed, const void* base) { pack(packed, base, pattern, repetitions); });
          if (const UnpackPattern unpack = GetParam()->unpack_pattern[kernel])
            expect_unpacks(spaces, shape, where,
                           [&](void* base, const void* packed) { unpack(base, packed, pattern, repetitions); });
        });
      if (HasFatalFailure()) return;
    }
  }
}

// From the rows of a matrix to its columns and back: both sides have gaps between their rows.
TEST_P(CopyUnit, Transposes) {
  const Spaces spaces;
  unsigned turn = 1;
  std::mt19937 random(8);
  for (std::size_t log = 0; log < 5; ++log) {
    const std::size_t item = std::size_t{1} << log;
    for (int i = 0; i < (full() ? 3000 : emulated ? 60 : 300); ++i) {
      const std::size_t most = i % 10 == 9 ? 200 : 40;
      const std::size_t rows = random() % most, columns = random() % (i % 7 == 6 ? 3 : most);
      const auto stride =
          static_cast<std::ptrdiff_t>(columns * item + random() % 3 * (random() % 70)) * (i % 5 == 4 ? -1 : 1);
      const auto packed_stride = static_cast<std::ptrdiff_t>(rows * item);
      Shape shape;
      shape.text = std::to_string(rows) + " x " + std::to_string(columns) + " items of " + std::to_string(item) +
                   " at " + std::to_string(stride);
      for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t r = 0; r < rows; ++r)
          shape.add(static_cast<std::ptrdiff_t>(r) * stride + static_cast<std::ptrdiff_t>(c * item), item);
      if (shape.reach() + 256 > space_bytes || shape.packed_bytes + 256 > space_bytes) continue;
      each_placement(turn, [&](const Placement& where) {
        expect_packs(spaces, shape, where, [&](void* packed, const void* base) {
          GetParam()->transpose[log](packed, packed_stride, base, stride, rows, columns);
        });
        expect_unpacks(spaces, shape, where, [&](void* base, const void* packed) {
          GetParam()->transpose[log](base, stride, packed, packed_stride, columns, rows);
        });
      });
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, CopyUnit,
                         testing::ValuesIn(std::vector<const CopySet*>(usable_copies().begin(), usable_copies().end())),
                         [](const auto& unit) { return std::string(unit.param->isa); });

}  // namespace
}  // namespace millrace::kernel::test
