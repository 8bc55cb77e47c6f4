#include "tools/learn/program_place.h"

#include <gtest/gtest.h>

#include "scratch.h"

namespace millrace::tools {
namespace {

using Places = std::vector<std::size_t>;

class ProgramPlaces : public testing::Test {
 protected:
  ProgramPlaces() {
    for (const char* name : {"bin/app", "bin/python3", "bin/ssh", "bin/test", "bin/4"})
      scratch_.write(name, "text", true);
    scratch_.write("bin/data", "text");
  }
  Places places(const std::string& line) const {
    std::vector<std::string> words;
    for (std::size_t start = 0; start < line.size();) {
      const std::size_t end = std::min(line.find(' ', start), line.size());
      words.push_back(line.substr(start, end - start));
      start = end + 1;
    }
    return program_places(words, scratch_.path() + "/bin");
  }

 private:
  Scratch scratch_;
};

TEST_F(ProgramPlaces, BehindTheLaunchersOptions) {
  EXPECT_EQ(places("mpirun -n 4 app input"), Places{3});
  EXPECT_EQ(places("mpirun app"), Places{1});
  EXPECT_EQ(places("/opt/mpi/bin/mpiexec.hydra -ppn 2 -n 4 -genv A test python3 run.py"), Places{8});
  EXPECT_EQ(places("mpirun --oversubscribe --mca plm_rsh_agent ssh --map-by core -x PATH app ssh"), Places{9});
  EXPECT_EQ(places("mpirun -n 4 data app"), Places{4}) << "a file that cannot be executed is none";
}

TEST_F(ProgramPlaces, BehindSlurmsOptions) {
  EXPECT_EQ(places("srun --mpi=pmix -n 4 app"), Places{4});
  EXPECT_EQ(places("srun --partition test --mpi pmix app test"), Places{5});
  EXPECT_EQ(places("/usr/bin/srun -A test -ln 4 -p test app"), Places{7}) << "letters together, the last with a value";
  EXPECT_EQ(places("srun -ptest -n4 -l -u app"), Places{5}) << "values that hang on their letters, and none";
  EXPECT_EQ(places("srun -K -k app"), Places{3}) << "values that may only hang on their letters";
  EXPECT_EQ(places("srun --exclusive --kill-on-bad-exit app"), Places{3});
  EXPECT_EQ(places("srun -n 1 -p test app : -n 2 -o test python3"), (Places{5, 11}));
  EXPECT_EQ(places("mpirun -A test"), Places{2}) << "they are Slurm's alone";
}

TEST_F(ProgramPlaces, NoneWhereSlurmReadsThemFromAFile) {
  EXPECT_EQ(places("srun -n 2 --multi-prog app"), Places{});
  EXPECT_EQ(places("srun -n 2 app --multi-prog"), Places{3}) << "behind the program it is the program's";
}

TEST_F(ProgramPlaces, OneForEachPart) {
  EXPECT_EQ(places("mpirun -n 1 app one : -n 2 python3 two.py"), (Places{3, 8}));
  EXPECT_EQ(places("mpirun -n 1 app : -n 2 data"), Places{});
  EXPECT_EQ(places("mpirun -n 1 app :"), Places{});
  EXPECT_EQ(places("mpirun : -n 1 app"), Places{});
}

TEST_F(ProgramPlaces, WithoutALauncherItIsTheFirst) {
  EXPECT_EQ(places("app input"), Places{0});
  EXPECT_EQ(places("missing"), Places{0});
  EXPECT_EQ(places(""), Places{});
}

TEST_F(ProgramPlaces, NoneIsSaidToBeNone) {
  EXPECT_EQ(places("mpirun"), Places{});
  EXPECT_EQ(places("mpirun -n 4"), Places{});
  EXPECT_EQ(places("mpirun -n 4 missing"), Places{});
}

}  // namespace
}  // namespace millrace::tools
