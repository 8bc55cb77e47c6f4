#include "tools/doctor/reasons.h"

#include <gtest/gtest.h>

#include "made.h"
#include "record/record.h"

namespace millrace::tools {
namespace {

using made::json;

constexpr std::int64_t second_ns = 1'000'000'000;

// 100000 calls of a job with two ranks, or with the nodes that are given, were left to the host for one reason.
Finding about(const char* reason, const char* name = "MPI_Bcast", const std::vector<std::string>& nodes = {"a", "a"},
              const json& settings = json::object(), std::size_t ranks = 0) {
  json report =
      made::report(nodes, {made::call(name, 10, {{reason, 100'000}}, {3 * second_ns, 0, 0, second_ns})}, ranks);
  report["settings"] = settings;
  const std::vector<Finding> found = reason_findings(examine({report}));
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? Finding{} : found[0];
}

std::string change_of(const char* reason, const char* name = "MPI_Bcast",
                      const std::vector<std::string>& nodes = {"a", "a"}, const json& settings = json::object()) {
  return about(reason, name, nodes, settings).change;
}

TEST(DoctorReasons, EveryReasonOfTheReportHasWords) {
  std::size_t known = 0;
  for (std::size_t reason = 1; reason < record::reason_count; ++reason, ++known) {
    const char* const name = record::reason_name(static_cast<record::Reason>(reason));
    ASSERT_NE(reason_words(name), nullptr) << name;
    EXPECT_STRNE(reason_words(name)->why, record::reason_text(static_cast<record::Reason>(reason))) << name;
  }
  EXPECT_EQ(all_reasons().size(), known);
  EXPECT_EQ(reason_words("of_tomorrow"), nullptr);
  EXPECT_EQ(why_in_words("of_tomorrow"), "of_tomorrow");
}

TEST(DoctorReasons, WhatIsLeftCanBeWorthItsTimeAtMost) {
  const Finding finding = about("type_not_covered");
  EXPECT_EQ(finding.says, "100000 calls of MPI_Bcast: there is no kernel for the datatype");
  EXPECT_EQ(finding.at_most_ns, 2 * second_ns);
  EXPECT_FALSE(finding.gain_ns);
}

TEST(DoctorReasons, WhatCannotBeChangedHasNoAdvice) {
  for (const char* reason : {"not_accelerated", "inactive", "invalid_argument", "host_was_faster", "tried",
                             "intercommunicator", "device_memory", "not_over_nodes", "of_tomorrow"})
    EXPECT_EQ(change_of(reason), "") << reason;
}

TEST(DoctorReasons, TheChangeFitsTheReason) {
  const std::pair<const char*, const char*> expected[] = {{"type_not_covered", "info --types"},
                                                          {"op_not_covered", "predefined operation"},
                                                          {"buffers_overlap", "MPI_IN_PLACE"},
                                                          {"host_is_faster", "millrace learn"},
                                                          {"large_count", "2 GiB"},
                                                          {"first_use", "make datatypes once"},
                                                          {"settings_differ", "mpirun -x"},
                                                          {"no_shared_memory", "/dev/shm"},
                                                          {"fault_tolerance", "MPIR_CVAR_ENABLE_FT"},
                                                          {"unseen_completion", "leave it out"},
                                                          {"unseen_calls", "MILLRACE_PMPI=alike"},
                                                          {"repeated_neighbors", "periodic"}};
  for (const auto& [reason, part] : expected) EXPECT_TRUE(made::holds(change_of(reason), part)) << reason;
  EXPECT_TRUE(made::holds(change_of("host_is_faster", "MPI_Send"), "millrace tune"));
  EXPECT_EQ(change_of("host_is_faster", "MPI_Send", {"a", "a"}, {{"MILLRACE_LAYOUTS", "never"}}), "")
      << "the setting has a finding of its own";
  EXPECT_TRUE(made::holds(change_of("disabled", "MPI_Bcast", {"a", "a"}, {{"MILLRACE_DISABLE", "Bcast,Scan"}}),
                          "MILLRACE_DISABLE (now: Bcast,Scan)"));
  EXPECT_TRUE(made::holds(change_of("no_buffer", "MPI_Send", {"a", "a"}, {{"MILLRACE_BUFFERS", "1KiB"}}),
                          "MILLRACE_BUFFERS (now: 1KiB)"));
}

TEST(DoctorReasons, RanksThatDoNotAgree) {
  EXPECT_TRUE(made::holds(change_of("not_agreed"), "MILLRACE_LOG=info"));
  EXPECT_TRUE(made::holds(about("not_agreed", "MPI_Bcast", {"a", "a"}, {}, 3).change, "every rank with Millrace"));
  EXPECT_TRUE(made::holds(change_of("not_agreed", "MPI_Bcast", {"a", "b"}), "millrace mpirun"));
  EXPECT_TRUE(made::holds(change_of("not_agreed", "MPI_Bcast", {"a", "b"}), "MILLRACE_NODES=always"));
  EXPECT_TRUE(made::holds(change_of("not_agreed", "MPI_Bcast", {"a", "b"}, {{"MILLRACE_NODES", "never"}}),
                          "unset MILLRACE_NODES:"));
}

TEST(DoctorReasons, FirstCallsOfCommunicators) {
  const auto change = [](std::uint64_t made_ones, std::uint64_t calls) {
    return reason_findings(examine({made::report({"a", "a"}, {made::call("MPI_Bcast", 0, {{"not_agreed", calls}}, {}),
                                                              made::call("MPI_Comm_dup", made_ones, {}, {})})}))
        .front()
        .change;
  };
  EXPECT_EQ(change(0, 32), "") << "sixteen on each rank, which no program can spare";
  EXPECT_EQ(change(2, 64), "");
  EXPECT_TRUE(made::holds(change(0, 33), "MILLRACE_LOG=info"));
  EXPECT_TRUE(made::holds(change(3, 33), "keep communicators"));
  EXPECT_TRUE(made::holds(change(100, 1600), "keep communicators"));
}

}  // namespace
}  // namespace millrace::tools
