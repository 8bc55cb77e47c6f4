#include "threads/ranks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scratch.h"

namespace millrace::threads {
namespace {

using tools::Scratch;

NodeRanks ranks_of(std::vector<const char*> environment, int processes, const std::vector<int>& allowed,
                   const Scratch& root) {
  environment.push_back(nullptr);
  return find_ranks(environment.data(), processes, allowed, root.path());
}

void write_process(Scratch& root, const std::string& name, int parent, const std::string& allowed,
                   const std::string& children = {}) {
  root.write("proc/" + name + "/status", fmt::format("Name:\tx\nPPid:\t{}\nCpus_allowed_list:\t{}\n", parent, allowed));
  root.write("proc/" + name + "/task/" + name + "/children", children);
}

// mpirun (100) has started 101 to 104; we are 101.
void write_node(Scratch& root, const std::vector<std::string>& masks) {
  write_process(root, "self", 100, masks[0]);
  std::string children;
  for (std::size_t i = 0; i < masks.size(); ++i) {
    write_process(root, std::to_string(101 + i), 100, masks[i]);
    children += std::to_string(101 + i) + " ";
  }
  write_process(root, "100", 1, "0-7", children);
}

TEST(LocalRanks, AreWhatTheLauncherSays) {
  const auto local = [](std::vector<const char*> environment, int processes) {
    environment.push_back(nullptr);
    return local_ranks(environment.data(), processes);
  };
  EXPECT_EQ(local({"OMPI_COMM_WORLD_LOCAL_SIZE=4"}, 8), 4);
  EXPECT_EQ(local({"MPI_LOCALNRANKS=3"}, 0), 3);
  EXPECT_EQ(local({}, 8), 0);
  EXPECT_EQ(local({"OMPI_COMM_WORLD_LOCAL_SIZE=none"}, 8), 0);
  EXPECT_EQ(local({"PMI_RANK=1"}, 0), 0);  // a rank, of nobody knows how many
  EXPECT_EQ(local({"PMIX_RANK=0"}, 1), 1);
  EXPECT_EQ(local({"PATH=/bin"}, 0), 1);  // no MPI at all
}

TEST(SharingRanks, AreThoseWhoseMasksOverlap) {
  Scratch root;
  write_node(root, {"0-1", "2-3", "1-2", "4-7"});
  const NodeRanks found = ranks_of({"OMPI_COMM_WORLD_LOCAL_SIZE=4"}, 4, {0, 1}, root);
  EXPECT_EQ(found.local, 4);
  EXPECT_EQ(found.sharing, 2);  // 101 and 103
  EXPECT_EQ(ranks_of({"MPI_LOCALNRANKS=4"}, 4, {0, 1, 2, 3, 4, 5, 6, 7}, root).sharing, 4);
}

TEST(SharingRanks, AreFoundBehindAShell) {
  Scratch root;
  // mpirun 100 -> shells 201, 202 that are not bound -> ranks 101 (we), 102
  write_process(root, "self", 201, "0-1");
  write_process(root, "101", 201, "0-1");
  write_process(root, "102", 202, "2-3");
  write_process(root, "201", 100, "0-7", "101 ");
  write_process(root, "202", 100, "0-7", "102 ");
  write_process(root, "100", 1, "0-7", "201 202 ");
  EXPECT_EQ(ranks_of({"MPI_LOCALNRANKS=2"}, 2, {0, 1}, root).sharing, 1);
  write_process(root, "102", 202, "1-3");
  EXPECT_EQ(ranks_of({"MPI_LOCALNRANKS=2"}, 2, {0, 1}, root).sharing, 2);
}

TEST(SharingRanks, AreNotKnownIfTheOthersAreNotFound) {
  Scratch root;
  write_node(root, {"0-1", "2-3"});
  EXPECT_EQ(ranks_of({"MPI_LOCALNRANKS=4"}, 4, {0, 1}, root).sharing, 0);
  Scratch empty;
  EXPECT_EQ(ranks_of({"MPI_LOCALNRANKS=2"}, 2, {0, 1}, empty).sharing, 0);
  EXPECT_EQ(ranks_of({}, 2, {0, 1}, root).sharing, 0);
}

TEST(SharingRanks, AProcessThatCannotBeReadCountsAsSharing) {
  Scratch root;
  write_node(root, {"0-1", "2-3"});
  root.write("proc/102/status", "");
  EXPECT_EQ(ranks_of({"MPI_LOCALNRANKS=2"}, 2, {0, 1}, root).sharing, 2);
}

}  // namespace
}  // namespace millrace::threads
