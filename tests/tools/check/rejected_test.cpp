#include "tools/check/rejected.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/tools/scratch.h"

namespace millrace::tools::check {
namespace {

constexpr const char* source =
    "module check_f08\n"                     // 1
    "contains\n"                             // 2
    "  ! entry MPI_Send\n"                   // 3
    "  subroutine check_f08_MPI_Send()\n"    // 4
    "  end subroutine\n"                     // 5
    "  ! entry MPI_Send_c\n"                 // 6
    "  subroutine check_f08_MPI_Send_c()\n"  // 7
    "  end subroutine\n"                     // 8
    "end module\n";                          // 9

class RejectedTest : public testing::Test {
 protected:
  std::string written(const CallSource& calls) const {
    const std::string path = scratch_.path() + "/out.F90";
    calls.write(path);
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  Scratch scratch_;
  CallSource calls_{scratch_.write("calls_f08.F90", source)};
};

using Names = std::set<std::string>;

TEST_F(RejectedTest, IsTheWholeFileUntilSomethingIsLeftOut) { EXPECT_EQ(written(calls_), source); }

TEST_F(RejectedTest, FindsTheEntryOfALineInTheStylesOfCompilers) {
  EXPECT_EQ(calls_.rejected_by_compiler("calls_f08.F90:4:12:\n\nError: no", "calls_f08.F90"), Names{"MPI_Send"});
  EXPECT_EQ(calls_.rejected_by_compiler("/tmp/x/calls_f08.F90(7): error #6285", "calls_f08.F90"), Names{"MPI_Send_c"});
}

TEST_F(RejectedTest, BlamesNoEntryForWhatIsOutsideTheirFunctions) {
  EXPECT_EQ(calls_.rejected_by_compiler("calls_f08.F90:1:2: Error: no module", "calls_f08.F90"), Names{});
  EXPECT_EQ(calls_.rejected_by_compiler("calls_f08.F90:999:2: Error", "calls_f08.F90"), Names{});
  EXPECT_EQ(calls_.rejected_by_compiler("calls_f08.F90: not found", "calls_f08.F90"), Names{});
}

TEST_F(RejectedTest, TakesTheFunctionThatTheLinkerNamesAndNotItsPrefix) {
  const std::string output = "ld: x.o: in function `check_f08_MPI_Send_c':\nx.F90: undefined reference to `mpi_send_'";
  EXPECT_EQ(calls_.rejected_by_linker(output, "f08"), Names{"MPI_Send_c"});
  EXPECT_EQ(calls_.rejected_by_linker("undefined reference to `something_else'", "f08"), Names{});
}

TEST_F(RejectedTest, LeavesOutWholeFunctionsAndCountsLinesAnew) {
  calls_.leave_out({"MPI_Send"});
  EXPECT_EQ(written(calls_).find("MPI_Send()"), std::string::npos);
  EXPECT_NE(written(calls_).find("end module"), std::string::npos);
  EXPECT_EQ(calls_.rejected_by_compiler("calls_f08.F90:4:1: Error", "calls_f08.F90"), Names{"MPI_Send_c"});
}

}  // namespace
}  // namespace millrace::tools::check
