#include "tools/command_line.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "scratch.h"

namespace millrace::tools {
namespace {

class Line {
 public:
  Line(std::initializer_list<const char*> words) {
    for (const char* word : words) arguments_.push_back(const_cast<char*>(word));
    arguments_.insert(arguments_.begin(), const_cast<char*>("millrace"));
    arguments_.push_back(nullptr);
    request = parse_command_line(static_cast<int>(arguments_.size()) - 1, arguments_.data());
  }
  std::vector<std::string> program() const {
    std::vector<std::string> words;
    for (char** word = request.program; word && *word; ++word) words.emplace_back(*word);
    return words;
  }
  Request request;

 private:
  std::vector<char*> arguments_;
};
using Words = std::vector<std::string>;

TEST(CommandLine, OptionsEndAtTheProgram) {
  const Line line{"--isa", "avx2", "./app", "--isa", "", "a b", "--", "--help", "-x"};
  EXPECT_EQ(line.request.action, Action::launch);
  EXPECT_EQ(line.request.isa, "avx2");
  EXPECT_EQ(line.program(), (Words{"./app", "--isa", "", "a b", "--", "--help", "-x"}));
}

TEST(CommandLine, TheReportTakesItsFileOnlyAfterAnEqualsSign) {
  const Line plain{"--report", "./app.js"};
  EXPECT_EQ(plain.request.report, "1");
  EXPECT_EQ(plain.program(), Words{"./app.js"});
  const Line meant{"--report", "run.json", "./app"};
  EXPECT_EQ(meant.request.action, Action::stop);
  EXPECT_EQ(meant.request.exit_code, usage_error);
  EXPECT_NE(meant.request.mistake.find("--report=run.json"), std::string::npos);
  // A program may be called so, and nobody keeps it from being run.
  const Scratch scratch;
  const std::string program = scratch.write("run.json", "text", true);
  EXPECT_EQ(Line({"--report", program.c_str(), "x"}).request.action, Action::launch);
  EXPECT_EQ(Line({"--report", "--", "run.json"}).request.action, Action::launch);
  const Line named{"--report=r.json", "./app"};
  EXPECT_EQ(named.request.report, "r.json");
  const Line followed{"--report", "--log", "debug", "./app"};
  EXPECT_EQ(followed.request.report, "1");
  EXPECT_EQ(followed.request.log, "debug");
  EXPECT_EQ(followed.program(), Words{"./app"});
}

TEST(CommandLine, SubcommandsAreWordsNotPrograms) {
  EXPECT_EQ(Line({"info"}).request.action, Action::info);
  EXPECT_EQ(Line({"check"}).request.action, Action::check);
  EXPECT_EQ(Line({"--mpi", "mpich", "info", "--json"}).program(), (Words{"info", "--json"}));
  for (const Line& line : {Line{"./info"}, Line{"--", "info"}, Line{"/usr/bin/check"}, Line{"--", "check"}})
    EXPECT_EQ(line.request.action, Action::launch);
  EXPECT_EQ(Line({"--", "info", "x"}).program(), (Words{"info", "x"}));
}

TEST(CommandLine, OptionsNotGivenAreAbsent) {
  const Line line{"app"};
  EXPECT_FALSE(line.request.mpi || line.request.isa || line.request.disable || line.request.report || line.request.log);
  EXPECT_EQ(Line({"--disable", "Reduce_local,sum_f64", "app"}).request.disable, "Reduce_local,sum_f64");
  EXPECT_EQ(Line({"--mpi=/a/libmpi.so", "app"}).request.mpi, "/a/libmpi.so");
  EXPECT_EQ(Line({"--explain", "app"}).request.action, Action::explain);
  EXPECT_EQ(Line({"--dry-run", "app"}).request.action, Action::explain);
}

TEST(CommandLine, MistakesAreNamedAndStop) {
  for (const Line& line :
       {Line{}, Line{"--isa"}, Line{"--isa", "avx3", "app"}, Line{"--log=loud", "app"}, Line{"--report=r.txt", "app"},
        Line{"--no-such-option", "app"}, Line{"--report"}, Line{"--"}}) {
    EXPECT_EQ(line.request.action, Action::stop);
    EXPECT_EQ(line.request.exit_code, usage_error);
    EXPECT_NE(line.request.mistake, "");
    EXPECT_EQ(line.request.mistake.find('\n'), std::string::npos);
  }
  EXPECT_NE(Line({"--isa", "avx3", "app"}).request.mistake.find("scalar"), std::string::npos);
}

TEST(CommandLine, HelpForASubcommandIsItsOwn) {
  const Line line{"help", "tune"};
  EXPECT_EQ(line.request.action, Action::tune);
  EXPECT_EQ(line.program(), (Words{"tune", "--help"}));
  EXPECT_EQ(Line({"./help"}).request.action, Action::launch);
  EXPECT_EQ(Line({"help", "nonsense"}).request.exit_code, usage_error);
}

TEST(CommandLine, HelpAndVersionStopWithoutAMistake) {
  for (const char* wish : {"--help", "-h", "help", "--version", "-v", "-V"}) {
    testing::internal::CaptureStdout();
    const Line line{wish};
    EXPECT_NE(testing::internal::GetCapturedStdout(), "") << wish;
    EXPECT_EQ(line.request.action, Action::stop);
    EXPECT_EQ(line.request.exit_code, 0);
    EXPECT_EQ(line.request.mistake, "");
  }
}

}  // namespace
}  // namespace millrace::tools
