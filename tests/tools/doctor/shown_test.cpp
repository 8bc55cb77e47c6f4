#include "tools/doctor/shown.h"

#include <gtest/gtest.h>

#include <sstream>

#include "made.h"

namespace millrace::tools {
namespace {

using made::json;

constexpr std::int64_t second_ns = 1'000'000'000;

Diagnosis diagnosis(json report) {
  Diagnosis made_up;
  made_up.command = {"mpirun", "-n", "2", "./app"};
  made_up.job = examine({std::move(report)});
  made_up.findings = all_findings(made_up.job, {"a", 64});
  return made_up;
}

json some_report() {
  json bcast =
      made::call("MPI_Bcast", 90, {{"first_use", 1}, {"type_not_covered", 9}}, {3 * second_ns, 0, 0, second_ns});
  bcast["saved"] = {{"calls", 80}, {"time_ns", 2 * second_ns}, {"error_ns", second_ns / 10}};
  json report =
      made::report({"a", "a"}, {bcast, made::call("MPI_Recv", 0, {{"not_accelerated", 7}}, {4 * second_ns, 0, 0, 0}),
                                made::call("MPI_Wtime", 0, {{"not_accelerated", 5}}, {1000, 0, 0, 0})});
  report["notes"] = {"ranks differ in kernels"};
  return report;
}

TEST(DoctorShown, TheTextSaysWhatWasDoneAndWhatNotAndWhy) {
  const std::string text = as_text(diagnosis(some_report()));
  for (const char* part : {"millrace doctor: 2 ranks on 1 node, Open MPI v4.1.4, 10.0 s; of the 20.0 s of\nall ranks "
                           "together, 10.0 s (50 %)",
                           "\nnote: ranks differ in kernels\n",
                           "What Millrace did\n  MPI_Bcast: 90 of 100 calls, 1.00 s; saved 2.00 s (+- 200 ms)\n",
                           "  MPI_Recv: 4.00 s (20 %) in 7 calls\n    all: Millrace has nothing for such a call\n",
                           "  MPI_Bcast: at most 2.00 s (10 %) in 10 calls\n    9: there is no kernel for the "
                           "datatype\n    1: the first call",
                           "  1 other call: 1.00 us (<0.1 %) together\n", "  1. ",
                           "     change: ", "     worth: at most 2.00 s of the ranks' 20.0 s (10 %)"})
    EXPECT_TRUE(made::holds(text, part)) << part << "\n---\n" << text;
  EXPECT_LT(text.find("MPI_Recv: 4"), text.find("MPI_Bcast: at most")) << "most time first";
}

TEST(DoctorShown, ItFitsOnATerminal) {
  std::istringstream lines(as_text(diagnosis(some_report())));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_EQ(wrapped("1. ", "a bc def", 8), "1. a bc\n   def\n");
  EXPECT_EQ(wrapped("", ""), "\n");
}

TEST(DoctorShown, NothingToChangeIsSaid) {
  const std::string text = as_text(diagnosis(made::report({"a", "a"})));
  EXPECT_TRUE(made::holds(text, "  none of the job's calls\n"));
  EXPECT_TRUE(made::holds(text, "What to change\n  nothing that would be worth 1.0 % of the ranks' time\n")) << text;
}

TEST(DoctorShown, WhatCannotBeChangedIsSaidApart) {
  json report = made::report({"a", "a"});
  for (json& rank : report["by_rank"]) rank["mpi_ns"] = 1000;
  const std::string text = as_text(diagnosis(report));
  EXPECT_TRUE(made::holds(text, "\nTo know\n  the ranks spend")) << text;
  EXPECT_FALSE(made::holds(as_text(diagnosis(some_report())), "To know"));
}

TEST(DoctorShown, ASettingInTheWayIsNamedAsTheReason) {
  json report = some_report();
  report["calls"].push_back(made::call("MPI_Scan", 0, {{"not_accelerated", 3}}, {second_ns, 0, 0, 0}));
  const char* const line = "all: MILLRACE_COLLECTIVES=never leaves it to the host MPI";
  EXPECT_FALSE(made::holds(as_text(diagnosis(report)), line));
  report["settings"]["MILLRACE_COLLECTIVES"] = "never";
  EXPECT_TRUE(made::holds(as_text(diagnosis(report)), std::string("MPI_Scan: 1.00 s (5.0 %) in 3 calls\n    ") + line));
  EXPECT_TRUE(made::holds(as_text(diagnosis(report)), "all: Millrace has nothing for such a call")) << "of MPI_Recv";
}

TEST(DoctorShown, WorthIsMeasuredOrAtMostOrUnknown) {
  const Examined job = diagnosis(some_report()).job;
  Finding finding;
  EXPECT_TRUE(made::holds(worth_in_words(finding, job), "the report does not say"));
  finding.at_most_ns = second_ns;
  EXPECT_TRUE(worth_in_words(finding, job).starts_with("at most 1.00 s of the ranks' 20.0 s (5.0 %)"));
  finding.gain_ns = 2 * second_ns;
  finding.error_ns = second_ns / 2;
  EXPECT_EQ(worth_in_words(finding, job), "2.00 s (+- 500 ms) of the ranks' 20.0 s (10 %), as measured in this job");
}

TEST(DoctorShown, TheFileHoldsEverything) {
  Diagnosis failed = diagnosis(some_report());
  failed.exit_code = 5;
  failed.command.emplace_back("\xff");
  const json file = json::parse(as_json(failed));
  EXPECT_EQ(file["schema"], "millrace-doctor");
  EXPECT_EQ(file["exit_code"], 5);
  EXPECT_EQ(file["ranks_ns"], 2 * made::wall_ns);
  ASSERT_EQ(file["calls"].size(), 3u);
  EXPECT_EQ(file["calls"][1]["name"], "MPI_Bcast");
  EXPECT_EQ(file["calls"][1]["saved"]["time_ns"], 2 * second_ns);
  EXPECT_EQ(file["calls"][0]["left"][0]["reason"], "not_accelerated");
  EXPECT_FALSE(file["calls"][0].contains("saved"));
  bool is_there = false;
  for (const json& finding : file["findings"]) {
    if (finding["name"] != "type_not_covered") continue;
    is_there = true;
    EXPECT_EQ(finding["at_most_ns"], 2 * second_ns);
    EXPECT_EQ(finding["is_shown"], true);
    EXPECT_FALSE(finding.contains("gain_ns"));
  }
  EXPECT_TRUE(is_there);
}

}  // namespace
}  // namespace millrace::tools
