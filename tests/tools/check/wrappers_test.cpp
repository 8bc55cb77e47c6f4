#include "tools/check/wrappers.h"

#include <gtest/gtest.h>

#include "tests/tools/scratch.h"

namespace millrace::tools::check {
namespace {

TEST(Wrappers, FortranComesFromTheInstallationOfTheCWrapper) {
  const Scratch scratch;
  const std::string mpich = scratch.write("bin/mpif90.mpich", "", true),
                    abi = scratch.write("bin/mpifort_abi", "", true);
  const std::string intel = scratch.write("intel/mpif90", "", true);
  EXPECT_EQ(fortran_beside(scratch.path() + "/bin/mpicc.mpich"), mpich);
  EXPECT_EQ(fortran_beside(scratch.path() + "/bin/mpicc_abi"), abi);
  EXPECT_EQ(fortran_beside(scratch.path() + "/intel/mpigcc"), intel);
  EXPECT_EQ(fortran_beside(scratch.path() + "/bin/mpicc"), std::nullopt);
}

TEST(Wrappers, AFileThatCannotBeRunIsNoCommand) {
  const Scratch scratch;
  EXPECT_EQ(find_command(scratch.write("mpicc", "", false)), std::nullopt);
  EXPECT_EQ(find_command(scratch.path() + "/none"), std::nullopt);
  EXPECT_EQ(find_command(scratch.path()), std::nullopt);
  EXPECT_TRUE(find_command("sh").has_value());
}

}  // namespace
}  // namespace millrace::tools::check
