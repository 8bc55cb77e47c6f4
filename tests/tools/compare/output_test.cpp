#include "tools/compare/output.h"

#include <gtest/gtest.h>

namespace millrace::tools {
namespace {

using Texts = std::vector<std::string>;

OutputVerdict compare(const Texts& without, const Texts& with, const OutputRules& rules = {}) {
  return compare_outputs(without, with, rules);
}

TEST(CompareOutputs, TheSameIsTheSame) {
  EXPECT_EQ(compare({"a 1\nb\n", "a 1\nb\n"}, {"a 1\nb\n"}).sameness, Sameness::identical);
  EXPECT_EQ(compare({"", ""}, {"", ""}).sameness, Sameness::identical);
  EXPECT_EQ(compare({"a  1\n", "a 1\n"}, {"a 1\n"}).sameness, Sameness::identical) << "blanks that fill a column";
}

TEST(CompareOutputs, NumbersThatDifferByThemselvesAreIgnored) {
  const Texts without{"sum 5\ntook 1.25 s\n", "sum 5\ntook 1.5e0 s\n"};
  const OutputVerdict same = compare(without, {"sum 5\ntook 0.75 s\n"});
  EXPECT_EQ(same.sameness, Sameness::but_for_numbers);
  EXPECT_EQ(same.ignored_numbers, 1u);
  EXPECT_EQ(same.without, "took 1.25 s");
  EXPECT_EQ(same.with, "took 0.75 s");
  // Another number is not.
  const OutputVerdict differs = compare(without, {"sum 5\ntook 0.75 s\n", "sum 6\ntook 0.75 s\n"});
  EXPECT_EQ(differs.sameness, Sameness::differs);
  EXPECT_EQ(differs.without, "sum 5");
  EXPECT_EQ(differs.with, "sum 6");
  EXPECT_DOUBLE_EQ(differs.off_by.value_or(0), 1.0 / 6);
}

TEST(CompareOutputs, ANumberThatDiffersWithMillraceOnlyIsADifference) {
  EXPECT_EQ(compare({"x 1.0\n", "x 1.0\n"}, {"x 1.0\n", "x 1.1\n"}).sameness, Sameness::differs);
  EXPECT_EQ(compare({"x -1\n", "x -1\n"}, {"x 1\n"}).sameness, Sameness::differs) << "a sign counts";
  EXPECT_EQ(compare({"x 1\n", "x 1\n"}, {"x 1.000\n"}).sameness, Sameness::differs) << "so does how it is printed";
}

TEST(CompareOutputs, WordsAlwaysCount) {
  const OutputVerdict more = compare({"a\n", "a\n"}, {"a\nwarning\n"});
  EXPECT_EQ(more.sameness, Sameness::differs);
  EXPECT_EQ(more.without, "");
  EXPECT_EQ(more.with, "warning");
  EXPECT_FALSE(more.off_by);
  EXPECT_EQ(compare({"1 nan\n", "2 nan\n"}, {"3 inf\n"}).sameness, Sameness::differs);
}

TEST(CompareOutputs, LinesOfRanksComeInAnyOrder) {
  const Texts without{"rank 0: 1\nrank 1: 2\nend\n", "rank 1: 2\nrank 0: 1\nend\n"};
  EXPECT_EQ(compare(without, {"rank 1: 2\nend\nrank 0: 1\n"}).sameness, Sameness::reordered);
  EXPECT_EQ(compare(without, {"rank 1: 3\nend\nrank 0: 1\n"}).sameness, Sameness::differs);
  EXPECT_EQ(compare(without, {"rank 1: 2\nend\n"}).sameness, Sameness::differs);
}

TEST(CompareOutputs, WhatDiffersByItselfInWordsIsNotCompared) {
  const OutputVerdict verdict = compare({"process ab\n", "process cd\n"}, {"process ab\n"});
  EXPECT_EQ(verdict.sameness, Sameness::incomparable);
  EXPECT_EQ(verdict.with, "process cd");
  OutputRules rules;
  rules.ignored = std::regex("^process");
  EXPECT_EQ(compare({"process ab\nx 1\n", "process cd\nx 1\n"}, {"process ef\nx 1\n"}, rules).sameness,
            Sameness::identical);
  EXPECT_EQ(compare({"process ab\nx 1\n", "process cd\nx 1\n"}, {"process ef\nx 2\n"}, rules).sameness,
            Sameness::differs);
}

TEST(CompareOutputs, ATolerance) {
  OutputRules rules;
  rules.tolerance = 1e-6;
  EXPECT_EQ(compare({"x 1.0000000\n", "x 1.0000000\n"}, {"x 1.0000001\n"}, rules).sameness, Sameness::identical);
  EXPECT_EQ(compare({"x 1.0000000\n", "x 1.0000000\n"}, {"x 1.0001\n"}, rules).sameness, Sameness::differs);
}

}  // namespace
}  // namespace millrace::tools
