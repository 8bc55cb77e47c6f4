// What launchers tell the ranks that they start, in the environment.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>

namespace millrace {

// The number of a rank in its job: Open MPI, PMIx, MPICH and Intel MPI, MVAPICH, Cray, Slurm, Flux.
inline constexpr std::array rank_variables{"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",
                                           "MV2_COMM_WORLD_RANK",  "PALS_RANKID", "SLURM_PROCID",
                                           "FLUX_TASK_RANK"};

// How many ranks of the job were started on this node.
inline constexpr std::array local_size_variables{"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                                 "MV2_COMM_WORLD_LOCAL_SIZE", "PMI_LOCAL_SIZE", "PALS_LOCAL_SIZE"};

// Of several that are set, as in a job that was started by another one, the most. 0 if nobody says. Calls getenv().
inline int told_local_ranks() {
  int most = 0;
  for (const char* variable : local_size_variables)
    if (const char* text = std::getenv(variable)) most = std::max(most, std::atoi(text));
  return most;
}

// Whether all ranks of a job are on this node, by everybody who says something about that.
inline bool told_all_here(int ranks) {
  bool told = false;
  for (const char* variable : local_size_variables)
    if (const char* text = std::getenv(variable)) {
      if (std::atoi(text) < ranks) return false;
      told = true;
    }
  return told;
}

// What millrace tells the program that it becomes, where the launcher has started all ranks of the job with it: the
// number of the process.
inline constexpr const char* whole_job_variable = "MILLRACE_WHOLE_JOB";

}  // namespace millrace
