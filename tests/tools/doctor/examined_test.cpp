#include "tools/doctor/examined.h"

#include <gtest/gtest.h>

#include "made.h"
#include "tools/doctor/calls.h"

namespace millrace::tools {
namespace {

using made::json;

TEST(DoctorExamined, ReportsOfNodesAddUp) {
  json first = made::report({"a", "a"}, {made::call("MPI_Bcast", 6, {{"tried", 4}}, {900, 400, 500, 600})}, 4);
  json second = made::report({"b", "b"},
                             {made::call("MPI_Bcast", 8, {{"tried", 1}, {"first_use", 1}}, {700, 100, 600, 650}),
                              made::call("MPI_Init", 0, {{"not_accelerated", 2}}, {5000, 1, 1, 0})},
                             4);
  second["by_rank"][0]["rank"] = 2;
  second["by_rank"][1]["rank"] = 3;
  first["settings"]["MILLRACE_NODES"] = "auto";
  first["notes"] = {"2 of 4 ranks are missing from this report", "ranks differ in kernels: avx2 (rank 0)"};
  const Examined job = examine({first, second});
  EXPECT_EQ(job.ranks, 4u);
  EXPECT_EQ(job.arrived(), 4u);
  EXPECT_EQ(job.nodes().at("b"), (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(job.host_mpi, "Open MPI v4.1.4");
  EXPECT_EQ(job.wall_ns, made::wall_ns);
  EXPECT_EQ(job.ranks_ns, 4 * made::wall_ns);
  EXPECT_EQ(job.mpi_ns, 2 * made::wall_ns);
  EXPECT_EQ(job.least_mpi_ns, made::wall_ns / 2);
  EXPECT_EQ(job.setting("MILLRACE_NODES"), "auto");
  EXPECT_EQ(job.notes, std::vector<std::string>{"ranks differ in kernels: avx2 (rank 0)"});
  ASSERT_EQ(job.calls.size(), 1u) << "what MPI_Init takes is in no time of a rank";
  const ExaminedCall& call = job.calls[0];
  EXPECT_EQ(call.calls, 20u);
  EXPECT_EQ(call.taken, 14u);
  EXPECT_EQ(call.ranks, 4u);
  EXPECT_EQ(call.left_ns(), 350);
  EXPECT_EQ(call.least_ns, 100);
  EXPECT_EQ(call.most_ns, 600);
  EXPECT_EQ(examine({second, first}).calls[0].least_ns, 100);
  EXPECT_EQ(call.why, (std::map<std::string, std::uint64_t>{{"first_use", 1}, {"tried", 5}}));
}

TEST(DoctorExamined, NodesAreToldApartByTheFilesOfTheirReports) {
  json first = made::report({"box"}, {}, 2), second = first;
  second["by_rank"][0]["rank"] = 1;
  EXPECT_EQ(examine({first, second}).nodes().size(), 1u);
  first["file"] = "report.json";
  second["file"] = "report.pid77.json";
  EXPECT_EQ(examine({first, second}).nodes().size(), 1u);
  EXPECT_FALSE(examine({first, second}).tells_of_other_nodes);
  first["file"] = "report.box.0.json";
  second["file"] = "report.box.1.json";
  const Examined job = examine({first, second});
  EXPECT_TRUE(job.tells_of_other_nodes);
  EXPECT_EQ(job.node_of, (std::map<std::uint64_t, std::string>{{0, "box.0"}, {1, "box.1"}}));
  first["file"] = "report.box.json";
  EXPECT_EQ(examine({first}).node_of.at(0), "box");
}

TEST(DoctorExamined, TheLongestCallIsFirst) {
  const Examined job = examine({made::report(
      {"a", "a"}, {made::call("MPI_Bcast", 1, {}, {10, 1, 1, 1}), made::call("MPI_Recv", 0, {}, {20, 1, 1, 0}),
                   made::call("MPI_Send", 0, {}, {5, 1, 1, 0})})});
  ASSERT_EQ(job.calls.size(), 3u);
  EXPECT_EQ(job.calls[0].name, "MPI_Recv");
  EXPECT_EQ(job.calls[2].name, "MPI_Send");
}

TEST(DoctorExamined, NothingIsNothing) {
  EXPECT_EQ(examine({}).arrived(), 0u);
  EXPECT_EQ(examine({json::object()}).arrived(), 0u);
}

TEST(DoctorCalls, KindsAreToldByName) {
  for (const char* name : {"MPI_Bcast", "MPI_Bcast_c", "MPI_Iallreduce", "MPI_Ineighbor_alltoallw", "MPI_Scan"})
    EXPECT_TRUE(is_collective(name)) << name;
  for (const char* name : {"MPI_Send", "MPI_Isend", "MPI_Reduce_local", "MPI_Comm_dup", "MPI_Iprobe"})
    EXPECT_FALSE(is_collective(name)) << name;
  EXPECT_TRUE(waits_for_all("MPI_Allreduce_c"));
  EXPECT_FALSE(waits_for_all("MPI_Iallreduce")) << "who starts it does not wait";
  EXPECT_FALSE(waits_for_all("MPI_Bcast")) << "its root may go on";
  EXPECT_TRUE(makes_communicator("MPI_Comm_split"));
  EXPECT_FALSE(makes_communicator("MPI_Comm_size"));
}

}  // namespace
}  // namespace millrace::tools
