#include "tools/bench/result.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace millrace::tools {
namespace {

// Turns in which the host takes `ratio` times as long as ours, give or take what a machine does.
std::string turns(double ratio, int count = 11) {
  std::string text;
  for (int i = 0; i < count; ++i) text += " 2.0:" + std::to_string(2.0 * ratio * (1 + 0.001 * (i % 3)));
  return text;
}

std::string printed() {
  return "a word of the launcher\n"
         "millrace-bench host Open MPI v4.1.4, package: Debian\n"
         "[0] millrace-bench ranks 8\nmillrace-bench nodes 1\nmillrace-bench points 5\n"
         "millrace-bench point 1 reduce_local hot SUM_int8 64" +
         turns(2) + "\nmillrace-bench point 1 collectives hot Allreduce 8" + turns(0.8) +
         "\nmillrace-bench point 1 collectives hot Bcast 8" + turns(0.8) +
         "\nmillrace-bench point 1 collectives cold Bcast 8" + turns(1) +
         "\nmillrace-bench point 1 collectives apart Bcast 2097152\n"
         "millrace-bench points 2\n"
         "millrace-bench point 2 collectives hot Allreduce 8" +
         turns(0.85) + "\nmillrace-bench point 2 collectives hot Bcast 8" + turns(1.2) + "\nmillrace-bench done\n";
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(BenchResult, IsReadFromWhatRanksPrint) {
  const BenchResult result = read_bench(printed());
  EXPECT_TRUE(result.is_complete);
  EXPECT_EQ(result.host, "Open MPI v4.1.4, package: Debian");
  EXPECT_EQ(result.ranks, 8);
  EXPECT_EQ(result.nodes, 1);
  ASSERT_EQ(result.points.size(), 5u);
  EXPECT_EQ(result.left_out(), 1u);
  EXPECT_EQ(result.points[0].verdict.speed, Speed::faster);
  EXPECT_EQ(result.points[3].verdict.speed, Speed::no_difference);
  EXPECT_FALSE(read_bench("no such file\n").is_complete);
}

TEST(BenchResult, SlowerIsWhatIsSlowerTwice) {
  BenchResult result = read_bench(printed());
  EXPECT_EQ(result.points[1].verdict.speed, Speed::slower);
  EXPECT_NEAR(result.points[1].verdict.ratio.median, 0.85, 0.01) << "the figures of the second look";
  EXPECT_EQ(result.points[2].verdict.speed, Speed::no_difference) << "faster the second time";
  EXPECT_EQ(result.count(Speed::slower), 1u);
  BenchPoint once = result.points[1];
  once.second.clear();
  EXPECT_EQ(final_verdict(once).speed, Speed::too_few_runs);
}

TEST(BenchResult, SaysOfHowManyNothingIsSlower) {
  BenchResult result = read_bench(printed());
  result.points.erase(result.points.begin() + 1);
  EXPECT_TRUE(verdict_in_words(result).starts_with("none of 3 is surely slower")) << verdict_in_words(result);
  result.points.pop_back();
  EXPECT_TRUE(verdict_in_words(result).starts_with("nothing is surely slower")) << verdict_in_words(result);
}

// On a wide scale every other doubling has a number, on a narrow one all: they do not touch.
TEST(BenchResult, LabelsOfAWideScaleDoNotTouch) {
  BenchResult result = read_bench(printed());
  EXPECT_TRUE(holds(as_html(result), ">1/2<"));
  result.points[0].verdict.ratio = {1, 1.0 / 32, 256};
  const std::string wide = as_html(result);
  EXPECT_TRUE(holds(wide, ">1/16<") && holds(wide, ">256<") && holds(wide, ">1<"));
  EXPECT_FALSE(holds(wide, ">1/32<") || holds(wide, ">128<"));
}

TEST(BenchResult, OneTurnThatHangsChangesNothing) {
  std::vector<BenchTimes> times(11, {1.0, 1.0});
  times[4].ours_us = 500;
  EXPECT_EQ(judge_turns(times).speed, Speed::no_difference);
  std::fill(times.begin(), times.end(), BenchTimes{1.02, 1.0});
  EXPECT_EQ(judge_turns(times).speed, Speed::no_difference) << "within the bar";
  std::fill(times.begin(), times.end(), BenchTimes{1.1, 1.0});
  EXPECT_EQ(judge_turns(times).speed, Speed::slower);
  times.resize(4);
  EXPECT_EQ(judge_turns(times).speed, Speed::too_few_runs);
}

TEST(BenchResult, FitsATerminal) {
  BenchResult result = read_bench(printed());
  result.command = "mpirun -n 8";
  result.machine = "a processor";
  const std::string text = as_text(result, true);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_TRUE(holds(text, "reductions                   hot")) << text;
  EXPECT_TRUE(holds(text, "  int8                       2.00 (2.00-2.00)")) << text;
  EXPECT_TRUE(
      holds(text, "slower, the median of turns and its interval, the worst first:\n  MPI_Allreduce, 8 B, hot\n"));
  EXPECT_TRUE(
      holds(text, "1 of 4 are surely slower with Millrace;\nfaster 1, no difference 2, not measured for want of "));
}

TEST(BenchResult, FilesHoldWhatWasMeasured) {
  BenchResult result = read_bench(printed());
  result.command = "mpirun -n 8 '<a&b>'";
  const nlohmann::json json = nlohmann::json::parse(as_json(result));
  EXPECT_EQ(json["points"][1]["verdict"], "slower");
  EXPECT_EQ(json["points"][1]["looks"], 2);
  EXPECT_EQ(json["points"][4]["verdict"], "not_measured");
  const std::string csv = as_csv(result);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 6 * 11);
  EXPECT_TRUE(holds(csv, "\ncollectives,hot,Bcast,8,2,1,2.00000,2.40000\n")) << csv;
  const std::string html = as_html(result);
  EXPECT_TRUE(holds(html, "&lt;a&amp;b&gt;"));
  EXPECT_TRUE(holds(html, "<h2>collectives, cold</h2>"));
  EXPECT_FALSE(holds(html, "<h2>collectives, apart</h2>")) << "nothing of it was measured";
  EXPECT_FALSE(holds(html, "://")) << "nothing is fetched";
}

}  // namespace
}  // namespace millrace::tools
