#include "tools/learn/advise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "scratch.h"
#include "tools/executables.h"
#include "tools/learn/launched.h"

namespace millrace::tools {
namespace {

RunTimes run_of(std::uint64_t wall_ns, std::uint64_t allreduce_ns, std::uint64_t bcast_ns) {
  return {wall_ns, allreduce_ns + bcast_ns, {{"MPI_Allreduce", allreduce_ns}, {"MPI_Bcast", bcast_ns}}};
}

TEST(Advice, SaysFasterOnlyWhereEveryRunIs) {
  const std::vector<RunTimes> without{run_of(1000, 500, 100), run_of(1100, 550, 100), run_of(1050, 520, 100)};
  const Verdict better = judge(without, {run_of(800, 300, 100), run_of(810, 310, 100), run_of(990, 320, 100)});
  EXPECT_TRUE(better.faster);
  EXPECT_FALSE(better.slower);
  EXPECT_DOUBLE_EQ(better.wall_ratio, 810.0 / 1050);
  EXPECT_DOUBLE_EQ(better.mpi_ratio, 410.0 / 620);
  EXPECT_EQ(better.call, "MPI_Allreduce");
  EXPECT_DOUBLE_EQ(better.call_ratio, 310.0 / 520);
  const Verdict noise = judge(without, {run_of(800, 300, 100), run_of(810, 310, 100), run_of(1001, 320, 100)});
  EXPECT_FALSE(noise.faster);
  const Verdict little = judge({run_of(1000, 1, 1)}, {run_of(980, 1, 1)});
  EXPECT_FALSE(little.faster) << "less than it is worth to set something";
  const Verdict worse = judge(without, {run_of(1200, 500, 300), run_of(1300, 500, 400)});
  EXPECT_TRUE(worse.slower);
  EXPECT_EQ(worse.call, "MPI_Bcast");
}

TEST(Advice, TriesWhatTheProgramSpendsItsTimeIn) {
  const RunTimes run = run_of(1000, 40, 960);
  const auto settings = settings_worth_trying("Open MPI v5.0.11", run, 12);
  bool bcast = false;
  for (const std::vector<std::string>& setting : settings) {
    for (const std::string& variable : setting) {
      EXPECT_TRUE(variable.starts_with("OMPI_")) << variable;
      EXPECT_EQ(variable.find("allreduce"), std::string::npos) << "4 % of the time";
      bcast = bcast || variable.find("bcast") != std::string::npos;
    }
  }
  EXPECT_TRUE(bcast);
  EXPECT_TRUE(std::ranges::any_of(settings, [](const std::vector<std::string>& each) {
    return each.size() == 2 && each[0].starts_with("OMPI_MCA_btl_vader_eager_limit=") &&
           each[1].starts_with("OMPI_MCA_btl_sm_eager_limit=");
  })) << "messages, whatever calls take the time";
  EXPECT_EQ(settings_worth_trying("Open MPI v5.0.11", run, 2).size(), 2u);
  EXPECT_FALSE(settings_worth_trying("MPICH 4.0.2", run, 12).empty());
  EXPECT_FALSE(settings_worth_trying("Intel(R) MPI Library 2021.18", run, 12).empty());
  EXPECT_TRUE(settings_worth_trying("another MPI", run, 12).empty());
}

TEST(Launched, PutsWordsInFrontOfEveryProgram) {
  const Scratch scratch;
  for (const char* name : {"app", "other", "millrace"}) scratch.write(name, "text", true);
  const char* const path = std::getenv("PATH");
  const std::string before = path ? path : "", ours = own_path();
  setenv("PATH", scratch.path().c_str(), 1);
  using Words = std::vector<std::string>;
  const Words added{"env", "A=1", ours, "--report=r"};
  EXPECT_EQ(in_front_of_programs({"mpirun", "-n", "2", "app", "x", ":", "-n", "1", "other"}, added),
            (Words{"mpirun", "-n", "2", "env", "A=1", ours, "--report=r", "app", "x", ":", "-n", "1", "env", "A=1",
                   ours, "--report=r", "other"}));
  EXPECT_EQ(in_front_of_programs({"mpirun", "-n", "2", "millrace", "--log=info", "app"}, added),
            (Words{"mpirun", "-n", "2", "env", "A=1", "millrace", "--report=r", "--log=info", "app"}));
  EXPECT_TRUE(in_front_of_programs({"mpirun", "-n", "2", "missing"}, added).empty());
  setenv("PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace millrace::tools
