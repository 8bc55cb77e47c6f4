// Which ranks of this job, on this node, run under this Millrace: known without asking the host MPI, because a rank
// without Millrace (another program of an MPMD job) could not answer.
//
// A rank announces itself by listening on an abstract socket whose name is made of the job, the version of Millrace
// and its rank in MPI_COMM_WORLD. The name goes away with the process, however that ends. Nothing is ever sent.
// Network namespaces separate names: ranks in different ones count as ranks of different nodes.
#pragma once

#include <cstdint>
#include <string>

namespace millrace::shim {

// What all ranks of a job on this node know and no other job does: the namespace of PMIx, the daemon behind the PMI
// socket (MPICH, Intel MPI), the job step of Slurm, or else the parent process. Never empty.
std::string job_key();

// Announces this process as `rank` of the job. Returns false, announcing nothing, if the system refuses.
// One thread, after MPI_Init.
bool announce_presence(const std::string& job, int rank);
void withdraw_presence();

// Whether a process of this user has announced itself as `rank` of the job. About two microseconds; thread-safe.
bool is_present(const std::string& job, int rank);

}  // namespace millrace::shim
