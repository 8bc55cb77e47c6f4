// How many ranks of this job are on this node, and how many of them may run on the cores of this one.
//
// Nobody is asked by MPI: a collective question hangs when one of the ranks does not take part. The launchers say in
// the environment how many ranks they started here, and the ranks are children of the launcher's process on this node,
// whose affinity masks Linux shows.
#pragma once

#include <string>
#include <vector>

namespace millrace::threads {

struct NodeRanks {
  int local = 0;    // 0: not known
  int sharing = 0;  // with this one; 0: not known
};

// `environment` is environ-style; `processes` is the size of the world, 0 if there is none or it is not known;
// `allowed` is the caller's affinity mask; `root` stands before /proc.
NodeRanks find_ranks(const char* const* environment, int processes, const std::vector<int>& allowed,
                     const std::string& root = {});

// The number of ranks on this node by the environment alone: 0 if that does not say, 1 without a launcher.
int local_ranks(const char* const* environment, int processes);

}  // namespace millrace::threads
