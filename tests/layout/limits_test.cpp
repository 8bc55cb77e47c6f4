// What cannot be compiled or packed is a status, never a wrong answer; and what is merely large works.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "layout/layout.h"
#include "layout/notation.h"

namespace millrace::layout::test {
namespace {

Status status_of(const std::string& notation, std::shared_ptr<const Layout>* layout = nullptr) {
  const Parsed parsed = parse_notation(notation);
  EXPECT_TRUE(parsed.description) << notation << ": " << parsed.complaint;
  std::shared_ptr<const Layout> made;
  const Status status = compile(*parsed.description, made);
  EXPECT_EQ(made != nullptr, status == Status::ok);
  if (layout) *layout = made;
  return status;
}

TEST(Limits, ContradictionsAreBadArguments) {
  for (const char* text :
       {"contiguous(-1, int)", "vector(-1, 2, 3, int)", "vector(1, -2, 3, int)", "indexed([1], [1, 2], int)",
        "indexed([-1], [1], int)", "indexed_block(-1, [1], int)", "struct([1, 2], [0, 0], [int])",
        "subarray([4], [5], [0], c, int)", "subarray([4], [2], [3], c, int)", "subarray([4], [2], [-1], c, int)",
        "subarray([4, 4], [2], [1], c, int)", "subarray([], [], [], c, int)",
        "darray(4, 4, [8], [block], [default], [4], c, int)", "darray(4, 0, [8], [block], [1], [4], c, int)",
        "darray(4, 0, [8], [cyclic], [0], [4], c, int)", "darray(3, 0, [8], [block], [default], [4], c, int)",
        "darray(2, 0, [8], [none], [default], [2], c, int)"})
    EXPECT_EQ(status_of(text), Status::bad_argument) << text;
  Description childless;
  childless.combiner = Combiner::dup;
  std::shared_ptr<const Layout> layout;
  EXPECT_EQ(compile(childless, layout), Status::bad_argument);
  childless.children = {nullptr};
  EXPECT_EQ(compile(childless, layout), Status::bad_argument);
}

TEST(Limits, SizesBeyond64BitsAreNotSupported) {
  for (const char* text :
       {"contiguous(9223372036854775807, int)", "contiguous(4294967296, contiguous(4294967296, int))",
        "hvector(3, 1, 9223372036854775800, int)", "vector(2, 1, 4611686018427387904, double)",
        "hindexed([1], [9223372036854775807], int)",
        "hindexed_block(1, [9223372036854775800, -9223372036854775800], int)", "resized(9223372036854775800, 100, int)",
        "subarray([4294967296, 4294967296], [1, 1], [0, 0], c, double)", "hvector(4294967296, 4294967296, 0, double)"})
    EXPECT_EQ(status_of(text), Status::not_supported) << text;
}

TEST(Limits, CountsAndSegmentsAreChecked) {
  std::shared_ptr<const Layout> layout;
  ASSERT_EQ(status_of("vector(4, 1, 2, int)", &layout), Status::ok);
  char memory[64] = {}, packed[64] = {};
  std::int64_t bytes = 5;
  EXPECT_EQ(layout->packed_bytes(-1, bytes), Status::bad_argument);
  EXPECT_EQ(layout->packed_bytes(INT64_MAX / 8, bytes), Status::bad_argument);
  EXPECT_EQ(bytes, 5);
  EXPECT_EQ(layout->pack(memory, -1, packed), Status::bad_argument);
  EXPECT_EQ(layout->unpack(packed, memory, -1), Status::bad_argument);
  EXPECT_EQ(layout->pack_segment(memory, 1, 0, 17, packed), Status::bad_argument);
  EXPECT_EQ(layout->pack_segment(memory, 1, -1, 1, packed), Status::bad_argument);
  EXPECT_EQ(layout->pack_segment(memory, 1, 17, 0, packed), Status::bad_argument);
  EXPECT_EQ(layout->pack_segment(memory, 1, 1, INT64_MAX, packed), Status::bad_argument);
  EXPECT_EQ(layout->pack_segment(memory, 1, 16, 0, packed), Status::ok);
  EXPECT_EQ(layout->unpack_segment(packed, 8, 9, memory, 1), Status::bad_argument);
}

TEST(Limits, MoreThan32BitsOfEverything) {
  // 2^40 elements; only a segment of them lies in memory.
  std::shared_ptr<const Layout> layout;
  ASSERT_EQ(status_of("vector(1099511627776, 1, 2, int)", &layout), Status::ok);
  EXPECT_EQ(layout->size_bytes(), std::int64_t{1} << 42);
  std::vector<int> memory(64);
  for (int i = 0; i < 64; ++i) memory[static_cast<std::size_t>(i)] = i;
  const std::int64_t first = std::int64_t{1} << 39;  // this element is memory[0]
  const auto base = reinterpret_cast<std::uintptr_t>(memory.data()) - static_cast<std::uintptr_t>(first * 8);
  int packed[32] = {};
  ASSERT_EQ(layout->pack_segment(reinterpret_cast<const void*>(base), 1, first * 4, sizeof packed, packed), Status::ok);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(packed[i], 2 * i);
}

TEST(Limits, AnyDepth) {
  auto type = parse_notation("int").description;
  for (int level = 0; level < 20000; ++level) {
    auto outer = std::make_shared<Description>();
    outer->combiner = level % 2 ? Combiner::dup : Combiner::hindexed_block;
    outer->block_length = 1;
    if (level % 2 == 0) outer->displacements = {8};
    outer->children = {type};
    type = outer;
  }
  std::shared_ptr<const Layout> layout;
  ASSERT_EQ(compile(*type, layout), Status::ok);
  EXPECT_EQ(layout->true_lb_bytes(), 80000);
  EXPECT_TRUE(layout->is_contiguous(1));
}

TEST(Limits, SharedSubtreesAreCompiledOnce) {
  // 2^40 leaves if every path were walked.
  auto type = parse_notation("char").description;
  for (int level = 0; level < 40; ++level) {
    auto outer = std::make_shared<Description>();
    outer->combiner = Combiner::struct_;
    outer->block_lengths = {1, 1};
    outer->displacements = {0, (std::int64_t{3} << level)};
    outer->children = {type, type};
    type = outer;
  }
  std::shared_ptr<const Layout> layout;
  ASSERT_EQ(compile(*type, layout), Status::ok);
  EXPECT_EQ(layout->size_bytes(), std::int64_t{1} << 40);
}

}  // namespace
}  // namespace millrace::layout::test
