#include "tools/explain_type.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::tools {
namespace {

TEST(ExplainType, SaysFormPlanAndVerdict) {
  const TypeExplanation explanation =
      explain_type("struct([1, 1, 3], [0, 8, 16], [MPI_INT, MPI_DOUBLE, MPI_CHAR])", 10000);
  ASSERT_TRUE(explanation.is_understood);
  EXPECT_EQ(explanation.text,
            "struct([1, 1, 3], [0, 8, 16], [int, double, char])\n"
            "size 15, lb 0, extent 24, true lb 0, true extent 19\n"
            "one element:\n"
            "blocks, 2 of them\n"
            "  4 bytes at 0\n"
            "  11 bytes at 8\n"
            "several:\n"
            "loop of count, stride 24 (pattern)\n"
            "  blocks, 2 of them\n"
            "    4 bytes at 0\n"
            "    11 bytes at 8\n"
            "10000 of them, 150000 bytes packed: packed by Millrace\n");
}

TEST(ExplainType, SaysWhatIsLeftToTheHost) {
  const auto ends = [](const char* notation, const std::string& end) {
    const std::string text = explain_type(notation, 3).text;
    EXPECT_TRUE(text.ends_with(end)) << text;
  };
  ends("contiguous(7, int)", "left to the host: contiguous\n");
  ends("vector(2, 1000000, 2000000, double)", "left to the host: its blocks are long\n");
}

TEST(ExplainType, SaysFromWhereOnSmallDataAreTaken) {
  const auto verdict_of = [](std::int64_t count) { return explain_type("vector(3, 1, 2, int)", count).text; };
  const std::string few = verdict_of(1);
  EXPECT_EQ(few.find("long"), std::string::npos) << few;
  const std::string words = "so few bytes; from ";
  const std::size_t place = few.find(words);
  ASSERT_NE(place, std::string::npos) << few;
  const std::int64_t least = std::stoll(few.substr(place + words.size()));
  EXPECT_NE(verdict_of(least).find("packed by Millrace"), std::string::npos) << least;
  EXPECT_NE(verdict_of(least - 1).find("left to the host"), std::string::npos) << least;
}

TEST(ExplainType, TakesACallAsItStandsInAProgram) {
  const std::string pasted = explain_type("MPI_Type_vector(1000, 1, 1000, MPI_DOUBLE, &column);", 1).text;
  EXPECT_EQ(pasted, explain_type("vector(1000, 1, 1000, double)", 1).text);
  const TypeExplanation unknown = explain_type("MPI_Type_vector(n, 1, 1000, MPI_DOUBLE, &column);", 1);
  EXPECT_FALSE(unknown.is_understood);
  EXPECT_NE(unknown.text.find("'n' has no value here"), std::string::npos);
}

TEST(ExplainType, PointsAtAMistake) {
  const TypeExplanation explanation = explain_type("vector(1, 2, int)", 1);
  EXPECT_FALSE(explanation.is_understood);
  EXPECT_EQ(explanation.text, "a number of 64 bits is expected\nvector(1, 2, int)\n             ^");
  EXPECT_NE(explain_type("contiguous(-1, int)", 1).text.find("contradict"), std::string::npos);
  EXPECT_NE(explain_type("contiguous(4611686018427387904, int)", 1).text.find("64 bits"), std::string::npos);
  EXPECT_FALSE(explain_type("contiguous(1048576, int)", INT64_MAX).is_understood);
}

}  // namespace
}  // namespace millrace::tools
