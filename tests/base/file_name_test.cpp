#include "base/file_name.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>

namespace millrace {
namespace {

std::map<std::string, std::string> environment;

std::string job_of(std::map<std::string, std::string> variables) {
  environment = std::move(variables);
  return job_name([](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(FileName, LettersStandForTheProcessTheNodeAndTheJob) {
  setenv("SLURM_JOB_ID", "4711", 1);
  EXPECT_EQ(file_name_of("a/run.%j.%p.json"), fmt::format("a/run.4711.{}.json", getpid()));
  unsetenv("SLURM_JOB_ID");
  char name[256] = "";
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  EXPECT_EQ(file_name_of("%h"), name);
  EXPECT_EQ(file_name_of("100%%.%%p"), "100%.%p");
}

TEST(FileName, WhatMeansNothingIsFound) {
  EXPECT_EQ(unknown_percent("run.json"), std::nullopt);
  EXPECT_EQ(unknown_percent("%j%h%p%%"), std::nullopt);
  EXPECT_EQ(unknown_percent("%%x"), std::nullopt);
  EXPECT_EQ(unknown_percent("%j%x%y"), "%x");
  EXPECT_EQ(unknown_percent("run%"), "%");
}

TEST(FileName, ALetterIsFoundOnlyBehindItsSign) {
  EXPECT_TRUE(names_by("run.%h.json", 'h'));
  EXPECT_FALSE(names_by("h.%%h.json", 'h'));
}

TEST(FileName, ATextStandsForItself) {
  EXPECT_EQ(literal_name("/a%h/b"), "/a%%h/b");
  EXPECT_EQ(file_name_of(literal_name("/a%h/100%")), "/a%h/100%");
}

TEST(FileName, TheBatchSystemNamesTheJobBeforeTheLauncher) {
  EXPECT_EQ(job_of({{"SLURM_JOB_ID", "12"}, {"PMIX_NAMESPACE", "slurm.pmix.12.0"}}), "12");
  EXPECT_EQ(job_of({{"PBS_JOBID", "7.server"}}), "7.server");
  EXPECT_EQ(job_of({{"PMIX_NAMESPACE", "prterun-node-9@1"}}), "prterun-node-9_1");
  EXPECT_EQ(job_of({{"SLURM_JOB_ID", ""}, {"LSB_JOBID", "3"}}), "3");
  EXPECT_EQ(job_of({}), fmt::format("pid{}", getppid()));
}

TEST(FileName, AJobCannotNameADirectory) { EXPECT_EQ(job_of({{"PBS_JOBID", "../../etc/x y"}}), ".._.._etc_x_y"); }

}  // namespace
}  // namespace millrace
