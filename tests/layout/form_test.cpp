// The smallest form of datatypes as programs make them, as the text that `millrace explain-type` prints.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kernel/copy/tuning.h"
#include "layout/layout.h"
#include "layout/notation.h"

namespace millrace::layout::test {
namespace {

std::shared_ptr<const Layout> layout_of(const std::string& notation) {
  const Parsed parsed = parse_notation(notation);
  EXPECT_TRUE(parsed.description) << notation << ": " << parsed.complaint;
  std::shared_ptr<const Layout> layout;
  if (parsed.description) {
    EXPECT_EQ(compile(*parsed.description, layout), Status::ok) << notation;
  }
  return layout;
}

std::string part_of(const std::string& notation, const char* from, const char* to) {
  const std::string text = layout_of(notation)->text();
  const std::size_t begin = text.find(from) + std::string(from).size();
  return text.substr(begin, text.find(to, begin) - begin);
}
std::string form(const std::string& notation) { return part_of(notation, "one element:\n", "several:"); }
std::string repetition(const std::string& notation) { return part_of(notation, "several:\n", "\n\n"); }

TEST(Form, ContiguousHoweverItIsSaid) {
  for (const char* text :
       {"contiguous(12, int)", "vector(3, 4, 4, int)", "indexed([4, 8], [0, 4], int)",
        "hindexed_block(6, [0, 24], int)", "struct([1, 1, 4], [0, 12, 16], [double_int, int, 2int])",
        "subarray([9, 3], [4, 3], [0, 0], c, int)",
        "darray(1, 0, [3, 4], [block, cyclic], [default, default], [1, 1], c, int)",
        "dup(contiguous(2, contiguous(2, contiguous(3, int))))", "resized(-8, 4, contiguous(12, int))"})
    EXPECT_EQ(form(text), "48 bytes at 0\n") << text;
  EXPECT_EQ(repetition("contiguous(3, int)"), "contiguous\n");
  EXPECT_EQ(form("subarray([9, 3], [4, 3], [2, 0], c, int)"), "48 bytes at 24\n");
}

TEST(Form, OneStridedLoopHoweverItIsSaid) {
  for (const char* text :
       {"vector(6, 2, 3, int)", "hvector(6, 1, 12, 2int)", "contiguous(6, resized(0, 12, 2int))",
        "indexed_block(2, [0, 3, 6, 9, 12, 15], int)", "hindexed([2, 2, 2, 2, 2, 2], [0, 12, 24, 36, 48, 60], int)",
        "indexed([2, 0, 2, 1, 1, 2, 2, 2], [0, 99, 3, 6, 7, 9, 12, 15], int)",
        "subarray([6, 3], [6, 2], [0, 0], c, int)",
        "struct([1, 1], [0, 36], [vector(3, 2, 3, int), vector(3, 2, 3, int)])",
        "darray(3, 0, [18], [cyclic], [2], [3], c, short)@[0, 1]",
        "contiguous(2, resized(0, 36, vector(3, 2, 3, int)))"}) {
    const bool is_darray = std::string(text).find("darray") == 0;
    EXPECT_EQ(form(text), is_darray ? "loop of 3, stride 12 (strided)\n  4 bytes at 0\n"
                                    : "loop of 6, stride 12 (strided)\n  8 bytes at 0\n")
        << text;
  }
}

TEST(Form, TheElementsOfACallContinueALoop) {
  EXPECT_EQ(repetition("resized(0, 8, vector(1000, 1, 1000, double))"),
            "loop of count, stride 8 (tiles)\n  loop of 1000, stride 8000 (strided)\n    8 bytes at 0\n");
  EXPECT_EQ(repetition("resized(0, 72, vector(6, 2, 3, int))"),
            "loop of 6 x count, stride 12 (strided)\n  8 bytes at 0\n");
}

TEST(Form, ArraysOfStructs) {
  EXPECT_EQ(form("struct([1, 1, 3], [0, 8, 16], [int, double, char])"),
            "blocks, 2 of them\n  4 bytes at 0\n  11 bytes at 8\n");
  EXPECT_EQ(form("contiguous(10, struct([1, 1, 3], [0, 8, 16], [int, double, char]))"),
            "loop of 10, stride 24 (pattern)\n  blocks, 2 of them\n    4 bytes at 0\n    11 bytes at 8\n");
}

TEST(Form, PatternsInBlockListsAreFound) {
  std::string displacements, lengths;
  for (int row = 0; row < 50; ++row)
    for (int i = 0; i < 3; ++i) {
      displacements += (row + i ? ", " : "") + std::to_string(row * 1000 + (i == 2 ? 17 : 5 * i));
      lengths += (row + i ? ", " : "") + std::to_string(1 + i);
    }
  EXPECT_EQ(
      form("indexed([" + lengths + "], [" + displacements + "], int)"),
      "loop of 50, stride 4000 (pattern)\n  blocks, 3 of them\n    4 bytes at 0\n    8 bytes at 20\n    12 bytes at "
      "68\n");
  std::string rows;  // 20 columns of 30 rows, the rows at irregular places
  for (int row = 0; row < 30; ++row)
    for (int i = 0; i < 20; ++i) rows += (row + i ? ", " : "") + std::to_string(row * row * 100 + 2 * i);
  EXPECT_EQ(form("indexed_block(1, [" + rows + "], double)").substr(0, 10), "list of 30");
}

// Points of a border, one number each: where every sixth touches the one before, single numbers are still the quicker
// way.
TEST(Form, ListsOfNumbersStayLists) {
  std::string displacements;
  for (int i = 0; i < 600; ++i)
    displacements += (i ? ", " : "") + std::to_string(i % 6 ? i * i : (i - 1) * (i - 1) + 1);
  EXPECT_NE(form("indexed_block(1, [" + displacements + "], float)").find("in units of 4 bytes"), std::string::npos);
  EXPECT_NE(form("indexed_block(1, [" + displacements + "], double)").find("in units of 8 bytes"), std::string::npos);
}

TEST(Form, OrderIsKept) {
  EXPECT_EQ(form("hindexed_block(1, [4, 0], int)"), "loop of 2 from 4, stride -4 (strided)\n  4 bytes at 0\n");
  EXPECT_EQ(form("vector(3, 1, -2, int)"), "loop of 3, stride -8 (strided)\n  4 bytes at 0\n");
  EXPECT_EQ(form("hvector(3, 1, 0, int)"), "loop of 3, stride 0 (strided)\n  4 bytes at 0\n");
}

TEST(Form, NothingIsNothing) {
  for (const char* text :
       {"contiguous(0, int)", "struct([], [], [])", "vector(4, 0, 2, int)", "resized(0, 64, struct([], [], []))",
        "indexed([0, 0], [4, 5], double)", "darray(8, 7, [4], [block], [default], [8], c, int)"}) {
    EXPECT_EQ(form(text), "nothing\n") << text;
    const auto layout = layout_of(text);
    EXPECT_EQ(layout->pack(nullptr, 1000, nullptr), Status::ok);
    EXPECT_EQ(layout->unpack_segment(nullptr, 0, 0, nullptr, 5), Status::ok);
    EXPECT_FALSE(layout->worth_taking(5));
  }
  EXPECT_EQ(layout_of("resized(0, 64, struct([], [], []))")->extent_bytes(), 64);
}

TEST(Worth, FromWhichCountOn) {
  const auto expect_from = [](const char* text, std::int64_t first) {
    const auto layout = layout_of(text);
    EXPECT_FALSE(layout->worth_taking(0)) << text;
    EXPECT_FALSE(layout->worth_taking(first - 1)) << text;
    EXPECT_TRUE(layout->worth_taking(first)) << text;
    EXPECT_TRUE(layout->worth_taking(first * 1000)) << text;
  };
  expect_from("resized(0, 8, int)", 64);  // 256 bytes
  expect_from("vector(8, 1, 2, int)", 8);
  expect_from("vector(9, 1, 2, int)", 8);
  expect_from("vector(64, 1, 2, int)", 1);
  expect_from("resized(0, 1024, contiguous(100, int))", 2);  // one is contiguous
  for (const char* text : {"contiguous(100, int)", "vector(4, 256, 512, int)"})
    for (const std::int64_t count : {1, 2, 1 << 20}) EXPECT_FALSE(layout_of(text)->worth_taking(count)) << text;
}

TEST(Worth, PackingAloneIsFromFewerBytesOn) {
  const auto expect_from = [](const char* text, std::int64_t first) {
    EXPECT_FALSE(layout_of(text)->worth_packing(first - 1)) << text;
    EXPECT_TRUE(layout_of(text)->worth_packing(first)) << text;
  };
  expect_from("resized(0, 8, int)", 16);  // 64 bytes
  expect_from("vector(8, 1, 2, int)", 2);
  expect_from("vector(16, 1, 2, int)", 1);
  expect_from("resized(0, 1024, contiguous(100, int))", 1);
  EXPECT_FALSE(layout_of("contiguous(100, int)")->worth_packing(1 << 20));
}

TEST(Worth, OfListsIsInTheTable) {
  std::string displacements = "0";
  for (int i = 1; i < 300; ++i) displacements += ", " + std::to_string(2 * i + i * i % 7 * 1000);
  const std::string list = "indexed_block(1, [" + displacements + "], int)";  // 1200 bytes
  kernel::CopyTuning tuning = kernel::default_copy_tuning();
  for (const std::size_t limit : {std::size_t{1199}, std::size_t{1200}}) {
    tuning.listed_to_bytes = limit;
    kernel::use_copy_tuning(tuning);
    EXPECT_EQ(layout_of(list)->worth_taking(1), limit == 1200);
    EXPECT_TRUE(layout_of("vector(300, 1, 2, int)")->worth_taking(1));
  }
  kernel::use_copy_tuning(kernel::default_copy_tuning());
}

}  // namespace
}  // namespace millrace::layout::test
