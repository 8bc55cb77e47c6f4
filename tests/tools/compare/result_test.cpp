#include "tools/compare/result.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace millrace::tools {
namespace {

using nlohmann::json;

json call(const char* name, int taken, int saved_calls, std::int64_t saved_ns, std::int64_t error_ns) {
  return {{"name", name},
          {"calls", 10},
          {"taken", taken},
          {"saved", {{"calls", saved_calls}, {"time_ns", saved_ns}, {"error_ns", error_ns}}}};
}

CompareResult result() {
  CompareResult result;
  result.command = "mpirun -n 2 ./app '<a&b>'";
  result.host = "Open MPI v4.1.4";
  result.machine = "a processor";
  result.ranks = 2;
  result.without_seconds = {2.0, 2.1, 2.05, 2.02, 2.08};
  result.with_seconds = {1.0, 1.1, 1.05, 1.02, 1.08};
  result.without_codes = result.with_codes = {0, 0, 0, 0, 0};
  result.speed = judge_speed(result.without_seconds, result.with_seconds);
  return result;
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(CompareResult, TheExitCodeSaysTheWorst) {
  CompareResult good = result();
  EXPECT_EQ(exit_code_of(good), 0);
  CompareResult slower = result();
  slower.speed = judge_speed(slower.with_seconds, slower.without_seconds);
  EXPECT_EQ(exit_code_of(slower), 3);
  slower.output.sameness = Sameness::differs;
  EXPECT_EQ(exit_code_of(slower), 1);
  CompareResult fails = result();
  fails.with_codes[3] = 139;
  EXPECT_EQ(exit_code_of(fails), 1);
  EXPECT_EQ(exit_codes_in_words(fails), "0 without Millrace, 0, 139 with it");
  fails.without_codes[0] = 139;
  EXPECT_EQ(exit_code_of(fails), 0) << "it does so without Millrace, too";
  CompareResult unknown = result();
  unknown.output.sameness = Sameness::incomparable;
  EXPECT_EQ(exit_code_of(unknown), 0);
}

TEST(CompareResult, CallsAreThoseThatWereTaken) {
  const std::vector<json> reports{
      {{"calls", {call("MPI_Allreduce", 4, 3, 2'000'000, 100'000), call("MPI_Comm_rank", 0, 0, 0, 0)}}},
      {{"calls",
        {call("MPI_Allreduce", 4, 3, 1'000'000, 100'000), call("MPI_Bcast", 2, 2, -5'000'000, 1'000'000),
         call("MPI_Reduce", 1, 1, 100, 1000), call("MPI_Scan", 1, 0, 0, 0)}}}};
  CompareResult with_calls = result();
  with_calls.calls = saved_calls(reports);
  const std::vector<std::string> lines = calls_in_words(with_calls);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "MPI_Bcast: 2 of 10 calls, lost 5 ms (+- 2 ms) in 2");
  EXPECT_EQ(lines[1], "MPI_Allreduce: 8 of 20 calls, saved 3 ms (+- 400 us) in 6");
  EXPECT_EQ(lines[2], "MPI_Reduce: 1 of 10 calls, no difference (+- 2 us)");
  EXPECT_EQ(lines[3], "MPI_Scan: 1 of 10 calls, what they saved was not measured");
  with_calls.calls.clear();
  EXPECT_TRUE(holds(calls_in_words(with_calls)[0], "did none of the job's calls"));
}

TEST(CompareResult, TheTextSaysSpeedAndSameness) {
  CompareResult shown = result();
  const std::string text = as_text(shown);
  EXPECT_TRUE(holds(text, "with Millrace the job is faster: 1.95 times (between 1.82 and 2.10)")) << text;
  EXPECT_TRUE(holds(text, "93.8 %")) << text;
  EXPECT_TRUE(holds(text, "output: the same in every run")) << text;
  shown.speed = judge_speed(shown.with_seconds, shown.with_seconds);
  EXPECT_TRUE(holds(as_text(shown), "no difference"));
  shown.output = {Sameness::differs, 0, "x 1", "x 2", 0.5};
  EXPECT_TRUE(
      holds(as_text(shown), "output: differs in a number, by a share of 5.0e-01\n  without: x 1\n  with:    x 2\n"))
      << as_text(shown);
}

TEST(CompareResult, TheTextFitsIntoATerminal) {
  CompareResult shown = result();
  shown.warnings = {"others keep 1.0 processors busy: what is measured now means little; wait until they are done"};
  shown.calls = {{"MPI_Neighbor_alltoallw_init", 1234567890, 1234567890, 123456789012, 1234567890, 1234567890}};
  shown.output = {Sameness::differs, 0, std::string(500, 'x'), std::string(500, 'y'), {}};
  std::istringstream lines(as_text(shown));
  std::string line;
  std::getline(lines, line);  // the command, whatever it is
  for (; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(CompareResult, TheFilesHoldEveryRun) {
  CompareResult shown = result();
  EXPECT_TRUE(as_csv(shown).starts_with("side,run,seconds,exit_code\nwithout,1,2.000000,0\n"));
  EXPECT_TRUE(holds(as_csv(shown), "with,5,1.080000,0\n"));
  shown.warnings = {"busy & <b>"};
  const std::string page = as_html(shown);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(holds(page, "&lt;a&amp;b&gt;") && holds(page, "busy &amp; &lt;b&gt;"));
  EXPECT_TRUE(holds(page, "prefers-color-scheme: dark"));
  for (const char* link : {"http:", "https:", "<script", "<link", "<img", "url("})
    EXPECT_FALSE(holds(page, link)) << link;
  std::size_t runs = 0;
  for (std::size_t at = page.find("<circle"); at != std::string::npos; at = page.find("<circle", at + 1)) ++runs;
  EXPECT_EQ(runs, 10u);
}

}  // namespace
}  // namespace millrace::tools
