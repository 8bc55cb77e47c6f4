#include "layout/notation.h"

#include <gtest/gtest.h>

#include <memory>

#include "layout/layout.h"
#include "random_description.h"

namespace millrace::layout::test {
namespace {

TEST(Notation, ReadsWhatItWrites) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const DescriptionPtr type = random_description(random, 1 + i % 5);
    const std::string text = notation_of(*type);
    const Parsed again = parse_notation(text);
    ASSERT_TRUE(again.description) << text << "\n" << again.complaint;
    ASSERT_EQ(notation_of(*again.description), text);
    std::shared_ptr<const Layout> one, other;
    ASSERT_EQ(compile(*type, one), compile(*again.description, other));
    if (one) {
      ASSERT_EQ(one->text(), other->text());
    }
  }
}

TEST(Notation, TakesNamesAsProgramsWriteThem) {
  const Parsed parsed = parse_notation(" MPI_Type ");
  EXPECT_FALSE(parsed.description);
  EXPECT_EQ(notation_of(*parse_notation("Vector(3,-1 , 4,\nMPI_LONG_DOUBLE_INT)").description),
            "vector(3, -1, 4, long_double_int)");
}

TEST(Notation, SaysWhereAMistakeIs) {
  const auto expect = [](const char* text, std::size_t position, const char* words) {
    const Parsed parsed = parse_notation(text);
    EXPECT_FALSE(parsed.description) << text;
    EXPECT_EQ(parsed.position, position) << text;
    EXPECT_NE(parsed.complaint.find(words), std::string::npos) << parsed.complaint;
  };
  expect("", 0, "predefined");
  expect("vector(1, 2, int)", 13, "number");
  expect("vector(1, 2, 3, itn)", 16, "'itn'");
  expect("vector(1, 2, 3, int) x", 21, "nothing");
  expect("indexed([1, 2, [3], int)", 15, "number");
  expect("contiguous(9223372036854775808, int)", 11, "64 bits");
  expect("subarray([4], [2], [1], row, int)", 24, "fortran");
  expect("int@[1]", 7, "lb, extent");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "dup(";
  EXPECT_NE(parse_notation(deep).complaint.find("deep"), std::string::npos);
}

}  // namespace
}  // namespace millrace::layout::test
