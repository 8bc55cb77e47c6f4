#include "node/job_key.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace millrace::node {
namespace {

std::string key(int rank, const std::map<std::string, std::string>& variables) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : variables) lines.push_back(fmt::format("{}={}", name, value));
  std::vector<char*> all;
  for (std::string& line : lines) all.push_back(line.data());
  all.push_back(nullptr);
  KeySources sources;
  sources.rank = rank;
  sources.environment = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  sources.all_variables = all.data();
  return job_key(sources);
}

bool names_parent(const std::string& text) { return text.find(" parent=") != std::string::npos; }

TEST(JobKey, IsOneForTheRanksOfAJob) {
  const auto of = [](int rank) {
    return key(rank,
               {{"PMIX_NAMESPACE", "a.1"}, {"PMIX_RANK", std::to_string(rank)}, {"PMIX_SERVER_URI2", "x;tcp4://y"}});
  };
  EXPECT_EQ(of(0), of(7));
  EXPECT_FALSE(names_parent(of(0)));
}

TEST(JobKey, IsAnotherForAnotherJobOrServer) {
  const auto of = [](const char* name_space, const char* server) {
    return key(0, {{"PMIX_NAMESPACE", name_space}, {"PMIX_RANK", "0"}, {"PMIX_SERVER_URI2", server}});
  };
  EXPECT_EQ(of("a.1", "x"), of("a.1", "x"));
  EXPECT_NE(of("a.1", "x"), of("a.2", "x"));
  EXPECT_NE(of("a.1", "x"), of("a.1", "y"));
}

// All processes of a job inside another have the rank of the outer one.
TEST(JobKey, DoesNotTrustWhatWasInherited) {
  EXPECT_TRUE(names_parent(key(1, {{"PMIX_NAMESPACE", "outer"}, {"PMIX_RANK", "0"}})));
  EXPECT_TRUE(names_parent(key(0, {{"PMIX_NAMESPACE", "outer"}})));
}

// Several jobs run in one allocation.
TEST(JobKey, DoesNotRelyOnAnAllocation) {
  EXPECT_TRUE(names_parent(key(0, {{"SLURM_JOB_ID", "1"}, {"SLURM_STEP_ID", "0"}})));
  EXPECT_TRUE(names_parent(key(0, {})));
}

TEST(JobKey, SaysWhereTheProcessRuns) {
  const std::string text = key(0, {});
  for (const char* word : {"user=", "pid-ns=", "net-ns=", "user-ns="})
    EXPECT_NE(text.find(word), std::string::npos) << word;
}

}  // namespace
}  // namespace millrace::node
