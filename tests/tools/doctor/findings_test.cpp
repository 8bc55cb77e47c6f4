#include "tools/doctor/findings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "made.h"

namespace millrace::tools {
namespace {

using made::json;

constexpr std::int64_t second_ns = 1'000'000'000;
const Here roomy{"a", 64};

std::vector<Finding> look(const json& report, const Here& here = roomy) {
  return all_findings(examine({report}), here);
}

TEST(DoctorFindings, AJobInWhichAllIsWellHasNone) {
  EXPECT_TRUE(look(made::report({"a", "a"}, {made::call("MPI_Bcast", 10, {}, {second_ns, 0, 0, second_ns})})).empty());
}

TEST(DoctorFindings, RanksWithoutARecord) {
  const json report = made::report({"a", "a"}, {}, 3);
  const std::vector<Finding> found = look(report);
  ASSERT_NE(made::find(found, "missing_ranks"), nullptr);
  EXPECT_TRUE(made::holds(made::find(found, "missing_ranks")->says, "1 of 3 ranks left no record"));
  EXPECT_TRUE(made::holds(made::find(found, "missing_ranks")->change, "behind ':'"));
  Examined job = examine({report});
  job.tells_of_other_nodes = true;
  const std::vector<Finding> elsewhere = all_findings(job, roomy);
  EXPECT_EQ(made::find(elsewhere, "missing_ranks"), nullptr);
  ASSERT_NE(made::find(elsewhere, "missing_nodes"), nullptr);
  EXPECT_TRUE(made::holds(made::find(elsewhere, "missing_nodes")->change, "TMPDIR"));
}

TEST(DoctorFindings, MoreRanksThanProcessors) {
  const json report = made::report({"a", "a", "a"});
  const std::vector<Finding> crowded = look(report, {"a", 2});
  const Finding* const finding = made::find(crowded, "ranks_outnumber_processors");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(made::holds(finding->says, "3 ranks share 2 processors of node a"));
  EXPECT_TRUE(made::holds(finding->change, "no more than 2 ranks"));
  EXPECT_FALSE(finding->has_worth()) << "the report knows nothing of it";
  EXPECT_EQ(made::find(look(report, {"a", 3}), "ranks_outnumber_processors"), nullptr);
  EXPECT_EQ(made::find(look(report, {"b", 2}), "ranks_outnumber_processors"), nullptr) << "another node's processors";
  EXPECT_EQ(made::find(look(report, {"a", 0}), "ranks_outnumber_processors"), nullptr) << "nobody knows how many";
}

TEST(DoctorFindings, PlacesOfRanks) {
  const std::vector<Finding> alone = look(made::report({"a"}));
  ASSERT_NE(made::find(alone, "one_rank"), nullptr);
  EXPECT_TRUE(made::holds(made::find(alone, "one_rank")->change, "launcher"));
  const std::vector<Finding> spread = look(made::report({"a", "b"}));
  ASSERT_NE(made::find(spread, "one_rank_per_node"), nullptr);
  EXPECT_TRUE(made::holds(made::find(spread, "one_rank_per_node")->change, "fewer nodes"));
  for (const std::vector<std::string>& nodes : {std::vector<std::string>{"a", "a"}, {"a", "a", "b"}}) {
    EXPECT_EQ(made::find(look(made::report(nodes)), "one_rank_per_node"), nullptr);
    EXPECT_EQ(made::find(look(made::report(nodes)), "one_rank"), nullptr);
  }
}

TEST(DoctorFindings, SettingsThatKeepCallsFromUs) {
  json report =
      made::report({"a", "a"}, {made::call("MPI_Bcast", 0, {{"not_accelerated", 1}}, {2 * second_ns, 0, 0, 0}),
                                made::call("MPI_Recv", 0, {{"not_accelerated", 1}}, {second_ns, 0, 0, 0}),
                                made::call("MPI_Send", 0, {{"host_is_faster", 1}}, {3 * second_ns, 0, 0, 0})});
  for (const char* name : {"MILLRACE_COLLECTIVES", "MILLRACE_LAYOUTS", "MILLRACE_ISA"})
    EXPECT_EQ(made::find(look(report), name), nullptr);
  report["settings"] = {{"MILLRACE_COLLECTIVES", "never"}, {"MILLRACE_LAYOUTS", "never"}, {"MILLRACE_ISA", "scalar"}};
  const std::vector<Finding> found = look(report);
  ASSERT_NE(made::find(found, "MILLRACE_COLLECTIVES"), nullptr);
  EXPECT_EQ(made::find(found, "MILLRACE_COLLECTIVES")->at_most_ns, 2 * second_ns);
  EXPECT_EQ(made::find(found, "MILLRACE_COLLECTIVES")->change, "unset MILLRACE_COLLECTIVES");
  ASSERT_NE(made::find(found, "MILLRACE_LAYOUTS"), nullptr);
  EXPECT_EQ(made::find(found, "MILLRACE_LAYOUTS")->at_most_ns, 3 * second_ns);
  ASSERT_NE(made::find(found, "MILLRACE_ISA"), nullptr);
  report["settings"]["MILLRACE_ISA"] = "auto";
  EXPECT_EQ(made::find(look(report), "MILLRACE_ISA"), nullptr);
}

TEST(DoctorFindings, LittleTimeInsideMpi) {
  json report = made::report({"a", "a"});
  EXPECT_EQ(made::find(look(report), "little_mpi"), nullptr);
  for (json& rank : report["by_rank"]) rank["mpi_ns"] = made::wall_ns / 100;
  const std::vector<Finding> found = look(report);
  ASSERT_NE(made::find(found, "little_mpi"), nullptr);
  EXPECT_EQ(made::find(found, "little_mpi")->at_most_ns, made::wall_ns / 50);
  EXPECT_EQ(made::find(found, "little_mpi")->change, "");
}

TEST(DoctorFindings, ARankThatComesLate) {
  // Rank 1 is so much longer inside MPI than rank 0.
  const auto of = [](const char* name, std::int64_t least_ns, int ranks = 2, std::int64_t uneven_ns = 4 * second_ns) {
    json report = made::report(
        {"a", "a"}, {made::call(name, 9, {}, {4 * second_ns, least_ns, 4 * second_ns - least_ns, second_ns}, ranks)});
    report["by_rank"][0]["mpi_ns"] = second_ns;
    report["by_rank"][1]["mpi_ns"] = second_ns + uneven_ns;
    return report;
  };
  const std::vector<Finding> found = look(of("MPI_Barrier", second_ns / 2));
  ASSERT_NE(made::find(found, "late_ranks"), nullptr);
  EXPECT_EQ(made::find(found, "late_ranks")->at_most_ns, 3 * second_ns);
  EXPECT_TRUE(made::holds(made::find(found, "late_ranks")->says, "500 ms in one rank and 3.50 s in rank 1"));
  const std::vector<Finding> less = look(of("MPI_Barrier", second_ns / 2, 2, 5 * second_ns / 2));
  ASSERT_NE(made::find(less, "late_ranks"), nullptr);
  EXPECT_EQ(made::find(less, "late_ranks")->at_most_ns, 5 * second_ns / 2);
  EXPECT_EQ(made::find(look(of("MPI_Barrier", 0, 2, second_ns)), "late_ranks"), nullptr) << "it is late from MPI";
  EXPECT_EQ(made::find(look(of("MPI_Barrier", 2 * second_ns)), "late_ranks"), nullptr) << "all spend as much";
  EXPECT_EQ(made::find(look(of("MPI_Bcast", 0)), "late_ranks"), nullptr) << "its root has less to do";
  EXPECT_EQ(made::find(look(of("MPI_Barrier", 0, 1)), "late_ranks"), nullptr) << "one rank never makes it";
  EXPECT_EQ(made::find(look(of("MPI_Barrier", 0), {"a", 1}), "late_ranks"), nullptr) << "they wait for a processor";
}

TEST(DoctorFindings, CallsInWhichWeWereSlower) {
  const auto of = [](std::int64_t saved_ns, std::int64_t error_ns) {
    json call = made::call("MPI_Bcast", 9, {}, {second_ns, 0, 0, second_ns});
    call["saved"] = {{"calls", 8}, {"time_ns", saved_ns}, {"error_ns", error_ns}};
    return look(made::report({"a", "a"}, {call}));
  };
  const std::vector<Finding> found = of(-second_ns, second_ns / 4);
  ASSERT_NE(made::find(found, "slower_than_host"), nullptr);
  EXPECT_EQ(made::find(found, "slower_than_host")->gain_ns, second_ns);
  EXPECT_EQ(made::find(found, "slower_than_host")->error_ns, second_ns / 2);
  EXPECT_TRUE(made::holds(made::find(found, "slower_than_host")->change, "MILLRACE_DISABLE=Bcast"));
  EXPECT_EQ(made::find(of(-second_ns, second_ns / 2), "slower_than_host"), nullptr) << "that may be chance";
  EXPECT_EQ(made::find(of(second_ns, 1), "slower_than_host"), nullptr);
}

TEST(DoctorFindings, WhatIsUnknownComesFirstThenWhatIsMost) {
  const std::vector<Finding> found =
      look(made::report({"a", "a"},
                        {made::call("MPI_Bcast", 0, {{"disabled", 1}}, {second_ns, 0, 0, 0}),
                         made::call("MPI_Scan", 0, {{"large_count", 1}}, {3 * second_ns, 0, 0, 0}),
                         made::call("MPI_Exscan", 0, {{"tried", 1}}, {10'000'000, 0, 0, 0})},
                        3));
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const Finding& finding : found) names.push_back(finding.name);
  EXPECT_EQ(names, (std::vector<std::string>{"missing_ranks", "large_count", "disabled", "tried"}));
  const Examined job = examine({made::report({"a", "a"})});
  EXPECT_TRUE(is_worth_showing(found[0], job));
  EXPECT_TRUE(is_worth_showing(found[2], job));
  EXPECT_FALSE(is_worth_showing(found[3], job)) << "a two-thousandth of the time";
}

TEST(DoctorFindings, ThisNodeHasANameAndProcessors) {
  EXPECT_NE(this_node().node, "");
  EXPECT_GE(this_node().processors, 1u);
}

}  // namespace
}  // namespace millrace::tools
