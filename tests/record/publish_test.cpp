#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "record/report.h"
#include "record/whole_file.h"

namespace millrace::record {
namespace {

namespace fs = std::filesystem;

// A directory of its own; the working directory does not matter.
class Publish : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "millrace-publish-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory = name;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      RankRecord record;
      record.identity = {rank, 2, "node\xff", 1, "scalar", "MPI", "mpich", {{"MILLRACE_REPORT", "x.json"}}, 1000, {}};
      CallRecord call;
      call.name = "MPI_Barrier";
      call.outcome[1] = 4;
      record.calls.push_back(call);
      ranks.push_back(pack(record));
    }
  }
  void TearDown() override { fs::remove_all(directory); }

  std::string path(const char* name) const { return (directory / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory), fs::directory_iterator{}));
  }
  static std::string text_of(const std::string& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // What publish() said on standard error.
  std::string said(const std::string& destination, Status expected) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(publish(ranks, destination == "1" ? Destination{true, {}} : Destination{false, destination}), expected);
    return testing::internal::GetCapturedStderr();
  }

  fs::path directory;
  std::vector<std::vector<std::byte>> ranks;
};

TEST_F(Publish, WritesJsonAndNothingElse) {
  EXPECT_EQ(said(path("report.json"), Status::ok), "");
  const auto value = nlohmann::json::parse(text_of(path("report.json")));
  EXPECT_EQ(value.at("schema"), "millrace-report");
  EXPECT_EQ(value.at("calls").at(0).at("calls"), 8);
  EXPECT_EQ(value.at("settings").at("MILLRACE_REPORT"), "x.json");
  EXPECT_EQ(files(), 1u);
}

TEST_F(Publish, PrintsTheTable) {
  EXPECT_NE(said("1", Status::ok).find("MPI_Barrier"), std::string::npos);
  EXPECT_EQ(files(), 0u);
}

TEST_F(Publish, WritesTheTableAndTheFileAtOnce) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(publish(ranks, {true, path("report.json")}), Status::ok);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("MPI_Barrier"), std::string::npos);
  EXPECT_NE(text_of(path("report.json")).find("millrace-report"), std::string::npos);
}

TEST_F(Publish, KeepsAnOlderReportUnderANumberAndSaysSo) {
  std::ofstream(path("run.json")) << "old";
  std::ofstream(path("run.1.json")) << "older";
  EXPECT_EQ(said(path("run.json"), Status::ok),
            "millrace: warning: " + path("run.json") + " was there: it is now " + path("run.2.json") + "\n");
  EXPECT_EQ(text_of(path("run.1.json")), "older");
  EXPECT_EQ(text_of(path("run.2.json")), "old");
  EXPECT_NE(text_of(path("run.json")).find("millrace-report"), std::string::npos);
  EXPECT_EQ(said(path("run.json"), Status::ok), "") << "its own, of this process, is replaced";
  EXPECT_EQ(files(), 3u);
}

TEST_F(Publish, KeepsWhatALinkLeadsToAndTheLink) {
  std::ofstream(path("old.json")) << "old";
  fs::create_symlink("old.json", path("link.json"));
  EXPECT_NE(said(path("link.json"), Status::ok).find("old.1.json"), std::string::npos);
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_NE(text_of(path("old.json")).find("millrace-report"), std::string::npos);
  EXPECT_EQ(text_of(path("old.1.json")), "old");
  EXPECT_EQ(files(), 3u);
}

// Each finds a file of somebody else's, or none, and never half a one.
TEST_F(Publish, OfManyWritersOfOneNameNoneLosesItsFile) {
  constexpr int writers = 8, rounds = 25;
  std::vector<pid_t> children;
  for (int writer = 0; writer < writers; ++writer) {
    const pid_t child = fork();
    if (child == 0) {
      int failures = 0;
      for (int round = 0; round < rounds; ++round) {
        const std::string text = std::string(20'000, 'x') + std::to_string(writer * rounds + round);
        std::string kept, error;
        failures += write_beside_older(path("run.json"), text, kept, error) != Status::ok;
      }
      _exit(failures);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::set<std::string> found;
  for (const auto& file : fs::directory_iterator(directory)) {
    const std::string text = text_of(file.path().string());
    ASSERT_GT(text.size(), 20'000u) << file.path();
    found.insert(text.substr(20'000));
  }
  EXPECT_EQ(files(), static_cast<std::size_t>(writers) * rounds);
  EXPECT_EQ(found.size(), static_cast<std::size_t>(writers) * rounds);
}

TEST_F(Publish, AnObstacleIsSeenBeforehand) {
  EXPECT_EQ(obstacle_to_file(path("run.json")), "");
  EXPECT_EQ(obstacle_to_file(path("no/run.json")), path("no") + ": No such file or directory");
  EXPECT_EQ(obstacle_to_file(directory.string()), "Is a directory");
  EXPECT_EQ(obstacle_to_file("/dev/null"), "");
  std::ofstream(path("file")) << "no directory";
  EXPECT_EQ(obstacle_to_file(path("file/run.json")), path("file") + ": Not a directory");
  EXPECT_EQ(files(), 1u) << "nothing was written to find that out";
}

TEST_F(Publish, HonoursTheUmask) {
  const mode_t before = umask(027);
  EXPECT_EQ(said(path("report.json"), Status::ok), "");
  umask(before);
  struct stat found;
  ASSERT_EQ(stat(path("report.json").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0640u);
}

TEST_F(Publish, SaysWhyAPathCannotBeWritten) {
  const auto says = [this](const std::string& file, const char* why) {
    const std::string text = said(file, Status::system_error), start = "millrace: error: cannot write the report to ";
    EXPECT_EQ(text.substr(0, text.find('\n')), start + file + ": " + why + ": here is its table");
    EXPECT_NE(text.find("MPI_Barrier"), std::string::npos) << "the figures are lost";
  };
  says(path("no/such/report.json"), "No such file or directory");
  fs::create_directory(path("directory.json"));
  says(path("directory.json"), "Is a directory");
  EXPECT_EQ(files(), 1u);
}

// A full device that this test owns: code that renames over it, run as root, must not cost the machine its /dev/full.
bool make_full_device(const std::string& path) { return mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 7)) == 0; }

TEST_F(Publish, SaysThatADeviceIsFullAndLeavesItADevice) {
  if (!make_full_device(path("full.json"))) GTEST_SKIP() << "making a device needs privileges";
  if (const int opened = open(path("full.json").c_str(), O_WRONLY); opened >= 0)
    close(opened);
  else
    GTEST_SKIP() << "devices do not work in " << directory;
  EXPECT_EQ(
      said(path("full.json"), Status::system_error)
          .find("millrace: error: cannot write the report to " + path("full.json") + ": No space left on device:"),
      0u);
  EXPECT_TRUE(fs::is_character_file(path("full.json")));
  EXPECT_EQ(files(), 1u);
}

TEST_F(Publish, WritesIntoAPipeAndLeavesItAPipe) {
  ASSERT_EQ(mkfifo(path("pipe.json").c_str(), 0600), 0);
  const int reader = open(path("pipe.json").c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_EQ(said(path("pipe.json"), Status::ok), "");
  std::string text(65536, '\0');
  const ssize_t length = read(reader, text.data(), text.size());
  close(reader);
  EXPECT_NE(text.substr(0, static_cast<std::size_t>(std::max<ssize_t>(length, 0))).find("millrace-report"),
            std::string::npos);
  EXPECT_TRUE(fs::is_fifo(path("pipe.json")));
}

TEST_F(Publish, KeepsTheOldFileWhenThereIsNoRoomForTheNew) {
  std::ofstream(path("report.json")) << "old";
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{64, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  std::string error;
  const Status status = write_whole_file(path("report.json"), std::string(1000, 'x'), error);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status, Status::system_error);
  EXPECT_EQ(error, "File too large");
  EXPECT_EQ(text_of(path("report.json")), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(Publish, ReportsTheRestWhenOneRecordIsBroken) {
  ranks[1].resize(ranks[1].size() / 2);
  EXPECT_EQ(said(path("report.json"), Status::ok), "");
  const auto value = nlohmann::json::parse(text_of(path("report.json")));
  EXPECT_EQ(value.at("ranks"), 2);
  EXPECT_EQ(value.at("by_rank").size(), 1u);
  ASSERT_EQ(value.at("notes").size(), 2u);
  EXPECT_EQ(value.at("notes")[1].get<std::string>().substr(0, 38), "the record of rank 1 cannot be read: n");
}

TEST_F(Publish, OfNoRecordsSaysSo) {
  ranks.assign(3, {});
  EXPECT_EQ(said("1", Status::ok), "millrace: nothing recorded\n");
  EXPECT_EQ(said(path("report.json"), Status::ok), "");
}

}  // namespace
}  // namespace millrace::record
