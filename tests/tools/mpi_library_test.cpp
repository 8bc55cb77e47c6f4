#include "tools/mpi_library.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "scratch.h"

namespace millrace::tools {
namespace {

Abi abi(std::string_view soname, const std::vector<std::string_view>& exports) {
  return abi_of(soname, [&](std::string_view name) { return std::ranges::find(exports, name) != exports.end(); });
}

TEST(MpiLibrary, SymbolsDecideNotNames) {
  EXPECT_EQ(abi("libmpi.so.40", {"MPI_Init", "ompi_mpi_comm_world"}), Abi::openmpi);
  EXPECT_EQ(abi("libmpi.so.12", {"MPI_Init", "MPIR_Dup_fn"}), Abi::mpich);  // MPICH, Intel, MVAPICH, ParaStation
  EXPECT_EQ(abi("libmpich.so.12", {"MPIR_Dup_fn"}), Abi::mpich);
  EXPECT_EQ(abi("libmpi.so.12", {"ompi_mpi_comm_world"}), Abi::openmpi);  // Open MPI 1.10
  EXPECT_EQ(abi("libmpi_gnu_123.so.12", {"MPIR_Dup_fn"}), Abi::mpich);    // Cray
  EXPECT_EQ(abi("libmpi.so.40", {"MPI_Init"}), Abi::unknown);
}

TEST(MpiLibrary, TheStandardAbiIsKnownByItsReservedName) {
  EXPECT_EQ(abi("libmpi_abi.so.1", {"MPI_Abi_get_version", "MPIR_Err_create_code"}), Abi::mpi5);
  EXPECT_EQ(abi("libmpi_abi.so.0", {"ompi_mpi_comm_world"}), Abi::mpi5);
  // MPICH 5 answers MPI_Abi_get_version under its own interface as well.
  EXPECT_EQ(abi("libmpi.so.12", {"MPI_Abi_get_version", "MPIR_Dup_fn"}), Abi::mpich);
  EXPECT_EQ(abi("libmympi.so.1", {"MPI_Abi_get_version"}), Abi::mpi5);
}

TEST(MpiLibrary, WordsAndAbisAreOneToOne) {
  for (const Abi each : {Abi::openmpi, Abi::mpich, Abi::mpi5}) EXPECT_EQ(abi_from_word(abi_word(each)), each);
  EXPECT_FALSE(abi_from_word("unknown"));
  EXPECT_FALSE(abi_from_word("Open MPI"));
  EXPECT_FALSE(abi_from_word(""));
}

TEST(MpiLibrary, EntriesAreOnlyMpisInC) {
  const std::vector<std::string_view> exports{"MPI_Send",  "PMPI_Send",  "MPI_Abort",
                                              "mpi_send_", "MPIX_Query", "MPI_ABORT"};
  EXPECT_EQ(mpi_entries(exports), (std::vector<std::string_view>{"MPI_Send", "MPI_Abort"}));
}

TEST(MpiLibrary, OnlyLikelyFilesAreOpened) {
  for (const char* name :
       {"libmpi.so.40", "/opt/x/libmpich.so.12", "libmpi_abi.so.1", "libmpt.so", "libmpi_cray.so.12", "libpsmpi.so"})
    EXPECT_TRUE(may_be_mpi_library(name)) << name;
  for (const char* name : {"libc.so.6", "/opt/mpi/libhdf5.so", "ld-linux-x86-64.so.2", "mpi.so"})
    EXPECT_FALSE(may_be_mpi_library(name)) << name;
}

TEST(MpiLibrary, ALibraryWithoutMpiIsNone) {
  EXPECT_FALSE(read_mpi_library(SAMPLE_GNU));  // has MPI_ names, but neither MPI_Init nor PMPI_Init
  const Scratch scratch;
  EXPECT_FALSE(read_mpi_library(scratch.write("libmpi.so", "INPUT(libmpi.so.40)\n")));
  EXPECT_FALSE(find_mpi_library(scratch.path(), Abi::unknown));
}

}  // namespace
}  // namespace millrace::tools
