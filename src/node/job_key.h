// What all ranks of a job on one node know alike, and no other job does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace millrace::node {

// Where the words of a key come from; tests put others here.
struct KeySources {
  int rank = 0;  // in MPI_COMM_WORLD
  std::function<const char*(const char* variable)> environment;
  char** all_variables = nullptr;  // ends with null
};
KeySources process_sources(int rank);

// Everything that a launcher tells its ranks about their job, together: its own number of the job (PMIX_NAMESPACE,
// Slurm's step ...), the process that serves them on this node (the daemon at the other end of PMI_FD with its start
// time, the address of the PMIx server), and the boot, the user and the namespaces that they run in. A variable that
// was inherited from a job around this one does no harm: what the inner launcher says is in the key as well. Without
// any launcher that we know: the parent process. Never empty.
std::string job_key(const KeySources& sources);

}  // namespace millrace::node
