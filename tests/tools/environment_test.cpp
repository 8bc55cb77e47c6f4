#include "tools/environment.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "tools/parents.h"
#include "tools/python_host.h"

namespace millrace::tools {
namespace {

class Given {
 public:
  Given(std::initializer_list<const char*> entries) : entries_(entries) { entries_.push_back(nullptr); }
  Environment environment() const { return Environment(entries_.data()); }
  EnvironmentHint hint() const { return hint_from_environment(environment()); }
  std::optional<int> rank() const { return rank_from_environment(environment()); }

 private:
  std::vector<const char*> entries_;
};

TEST(Environment, VariablesAreFoundByTheirWholeName) {
  const Given given{"PMI_FDX=1", "XPMI_FD=2", "EMPTY=", "PMI_FD=3=4", "PMI_FD=5", "BROKEN"};
  EXPECT_EQ(given.environment().get("PMI_FD"), "3=4");
  EXPECT_EQ(given.environment().get("EMPTY"), "");
  EXPECT_FALSE(given.environment().get("BROKEN"));
  EXPECT_FALSE(given.environment().get("PMI"));
  EXPECT_FALSE(Environment(nullptr).get("PATH"));
}

TEST(Environment, TheLaunchersAreKnown) {
  EXPECT_EQ((Given{"OMPI_COMM_WORLD_SIZE=2", "PMIX_RANK=0"}.hint().abi), Abi::openmpi);
  EXPECT_EQ((Given{"PMI_RANK=0", "PMI_SIZE=2", "PMI_FD=6", "HYDI_CONTROL_FD=7", "MPI_LOCALNRANKS=2"}.hint().abi),
            Abi::mpich);
  EXPECT_EQ((Given{"PMI_FD=6"}.hint().abi), Abi::mpich);
  const EnvironmentHint intel = Given{"PMI_FD=6", "I_MPI_HYDRA_UUID=84", "I_MPI_ROOT=/opt/intel/mpi"}.hint();
  EXPECT_EQ(intel.abi, Abi::mpich);
  EXPECT_NE(intel.reason.find("Intel"), std::string::npos);
  EXPECT_EQ(intel.prefixes, std::vector<std::string>{"/opt/intel/mpi"});
}

TEST(Environment, SlurmAloneTellsNothing) {
  const Given slurm{"SLURM_PROCID=3", "SLURM_NTASKS=8", "PMI_RANK=3", "PMI_SIZE=8", "PMIX_RANK=3", "PMIX_NAMESPACE=x"};
  EXPECT_EQ(slurm.hint().abi, Abi::unknown);
  EXPECT_EQ(slurm.rank(), 3);
}

TEST(Environment, AModulesPrefixIsNoProofButAPlaceToLook) {
  const EnvironmentHint hint = Given{"MPI_HOME=/opt/mpi"}.hint();
  EXPECT_EQ(hint.abi, Abi::unknown);
  EXPECT_EQ(hint.prefixes, std::vector<std::string>{"/opt/mpi"});
  // A module of another MPI, left loaded, is not looked at.
  EXPECT_TRUE((Given{"OMPI_COMM_WORLD_SIZE=2", "I_MPI_ROOT=/opt/intel"}.hint().prefixes.empty()));
}

TEST(Environment, TheRankIsANumberOrNotKnown) {
  EXPECT_EQ((Given{"OMPI_COMM_WORLD_RANK=12"}.rank()), 12);
  EXPECT_EQ((Given{"PMI_RANK=0"}.rank()), 0);
  EXPECT_FALSE(Given{"PATH=/bin"}.rank());
  EXPECT_FALSE(Given{"PMI_RANK="}.rank());
  EXPECT_FALSE(Given{"PMI_RANK=1x"}.rank());
  EXPECT_EQ((Given{"PMI_RANK=-1", "SLURM_PROCID=2"}.rank()), 2);
}

TEST(Environment, Mpi4pysOrders) {
  const auto told = [](std::initializer_list<const char*> entries) {
    return host_from_mpi4py(Given(entries).environment());
  };
  EXPECT_EQ(told({"MPI4PY_MPIABI=OpenMPI"})->abi, Abi::openmpi);
  EXPECT_EQ(told({"MPI4PY_MPIABI=i-mpi"})->abi, Abi::mpich);
  EXPECT_EQ(told({"MPI4PY_MPIABI=mpiabi"})->abi, Abi::mpi5);
  EXPECT_FALSE(told({"MPI4PY_MPIABI=other"}));
  EXPECT_FALSE(told({"MPI4PY_LIBMPI=/no/such/library.so"}));
  EXPECT_FALSE(told({}));
}

TEST(Environment, LaunchersAreKnownByName) {
  for (const char* name :
       {"mpirun", "/usr/bin/mpiexec", "mpiexec.hydra", "mpirun.openmpi", "orterun", "srun", "prterun"})
    EXPECT_TRUE(is_mpi_launcher(name)) << name;
  for (const char* name : {"mpirunner", "app", "./mpi", "srunx", "python3"})
    EXPECT_FALSE(is_mpi_launcher(name)) << name;
}

}  // namespace
}  // namespace millrace::tools
