#include "tools/learn/host_settings.h"

namespace millrace::tools {
namespace {

constexpr std::string_view open_mpi = "Open MPI", mpich = "MPICH", intel = "Intel";
// Without it Open MPI ignores which algorithm it is told to use.
constexpr std::string_view rules = "OMPI_MCA_coll_tuned_use_dynamic_rules=1";

}  // namespace

// Numbers of Open MPI's algorithms as `ompi_info --param coll tuned --level 9` lists them (4.1 and 5.0 alike), Intel's
// as in its reference of I_MPI_ADJUST, MPICH's names as `mpichversion`'s library lists its variables.
std::span<const HostSetting> host_settings() {
  static const std::vector<HostSetting> all{
      {open_mpi, "", {"OMPI_MCA_coll_han_priority=100"}},
      {open_mpi, "", {"OMPI_MCA_coll_adapt_priority=100"}},
      // Messages of up to so much within a node go at once, of 4.1 and of 5.0: what is longer waits for an answer
      // first.
      {open_mpi, "", {"OMPI_MCA_btl_vader_eager_limit=32768", "OMPI_MCA_btl_sm_eager_limit=32768"}},
      {open_mpi, "MPI_Allreduce", {rules, "OMPI_MCA_coll_tuned_allreduce_algorithm=3"}},  // recursive doubling
      {open_mpi, "MPI_Allreduce", {rules, "OMPI_MCA_coll_tuned_allreduce_algorithm=6"}},  // Rabenseifner
      {open_mpi, "MPI_Alltoall", {rules, "OMPI_MCA_coll_tuned_alltoall_algorithm=1"}},    // linear
      {open_mpi, "MPI_Alltoall", {rules, "OMPI_MCA_coll_tuned_alltoall_algorithm=2"}},    // pairwise
      {open_mpi, "MPI_Alltoallv", {rules, "OMPI_MCA_coll_tuned_alltoallv_algorithm=1"}},  // linear
      {open_mpi, "MPI_Alltoallv", {rules, "OMPI_MCA_coll_tuned_alltoallv_algorithm=2"}},  // pairwise
      {open_mpi, "MPI_Allgather", {rules, "OMPI_MCA_coll_tuned_allgather_algorithm=2"}},  // Bruck
      {open_mpi, "MPI_Allgather", {rules, "OMPI_MCA_coll_tuned_allgather_algorithm=4"}},  // ring
      {open_mpi, "MPI_Bcast", {rules, "OMPI_MCA_coll_tuned_bcast_algorithm=6"}},          // binomial tree
      {open_mpi, "MPI_Bcast", {rules, "OMPI_MCA_coll_tuned_bcast_algorithm=3"}},          // pipeline
      {open_mpi, "MPI_Reduce", {rules, "OMPI_MCA_coll_tuned_reduce_algorithm=5"}},        // binomial tree
      {open_mpi, "MPI_Reduce", {rules, "OMPI_MCA_coll_tuned_reduce_algorithm=7"}},        // Rabenseifner
      {open_mpi, "MPI_Reduce_scatter", {rules, "OMPI_MCA_coll_tuned_reduce_scatter_algorithm=2"}},  // halving
      {open_mpi, "MPI_Reduce_scatter", {rules, "OMPI_MCA_coll_tuned_reduce_scatter_algorithm=3"}},  // ring
      {mpich, "", {"MPIR_CVAR_DEVICE_COLLECTIVES=none"}},
      {mpich, "MPI_Allreduce", {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=recursive_doubling"}},
      {mpich, "MPI_Allreduce", {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=reduce_scatter_allgather"}},
      {mpich, "MPI_Alltoall", {"MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM=scattered"}},
      {mpich, "MPI_Alltoall", {"MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM=pairwise"}},
      {mpich, "MPI_Allgather", {"MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM=brucks"}},
      {mpich, "MPI_Allgather", {"MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM=ring"}},
      {mpich, "MPI_Bcast", {"MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial"}},
      {mpich, "MPI_Bcast", {"MPIR_CVAR_BCAST_INTRA_ALGORITHM=scatter_ring_allgather"}},
      {mpich, "MPI_Reduce", {"MPIR_CVAR_REDUCE_INTRA_ALGORITHM=binomial"}},
      {mpich, "MPI_Reduce", {"MPIR_CVAR_REDUCE_INTRA_ALGORITHM=reduce_scatter_gather"}},
      {intel, "", {"I_MPI_COLL_INTRANODE=pt2pt"}},
      {intel, "MPI_Allreduce", {"I_MPI_ADJUST_ALLREDUCE=1"}},  // recursive doubling
      {intel, "MPI_Allreduce", {"I_MPI_ADJUST_ALLREDUCE=2"}},  // Rabenseifner
      {intel, "MPI_Alltoall", {"I_MPI_ADJUST_ALLTOALL=2"}},    // isend and irecv
      {intel, "MPI_Alltoall", {"I_MPI_ADJUST_ALLTOALL=3"}},    // pairwise
      {intel, "MPI_Allgather", {"I_MPI_ADJUST_ALLGATHER=2"}},  // Bruck
      {intel, "MPI_Allgather", {"I_MPI_ADJUST_ALLGATHER=3"}},  // ring
      {intel, "MPI_Bcast", {"I_MPI_ADJUST_BCAST=1"}},          // binomial tree
      {intel, "MPI_Bcast", {"I_MPI_ADJUST_BCAST=3"}},          // ring
      {intel, "MPI_Reduce", {"I_MPI_ADJUST_REDUCE=2"}},        // binomial tree
      {intel, "MPI_Reduce", {"I_MPI_ADJUST_REDUCE=5"}},        // Rabenseifner
  };
  return all;
}

}  // namespace millrace::tools
