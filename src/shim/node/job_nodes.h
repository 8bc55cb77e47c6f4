// The nodes of the job: on which of them each rank of MPI_COMM_WORLD is, told once at the end of MPI_Init.
//
// Ranks of several nodes share no memory in which they could see who is there. So all of them come to a collective of
// the host's in MPI_Init, or none does; each must know beforehand that all others come. That is known
//   - from the launcher: `millrace mpirun ... ./app` puts itself in front of all programs of a job, and Open MPI says
//     that a job has one program only, which is us. Then millrace says so to the program that it becomes
//     (MILLRACE_WHOLE_JOB is its number of a process, so that no child of it takes that for itself);
//   - from the user: MILLRACE_NODES=always.
// If it was wrong after all, those who wait for the others end the job in bounded time (MILLRACE_NODES_WAIT).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/settings.h"
#include "shim/bind/word.h"

namespace millrace::shim {

// MILLRACE_NODE_SPLIT for a world of so many ranks: of each rank the node that it is to be on; nothing if there is
// none.
std::optional<std::vector<std::uint32_t>> pretended_nodes(const SettingValues& settings, int world_ranks);

// After join_job_board(), by one thread; collective over MPI_COMM_WORLD where all are known to come.
void meet_other_nodes(const SettingValues& settings, int world_rank, int world_ranks);
// Before MPI_Finalize, when nothing of this is used any more; collective likewise.
void leave_other_nodes();

// A communicator of ours with all ranks of MPI_COMM_WORLD in their order; 0: they have not met.
Word nodes_comm();

// What a rank has said about itself.
struct NodeCard {
  std::uint64_t digest = 0;         // of what must be equal on all ranks
  std::uint32_t node = 0;           // a number that the ranks of its node have in common
  std::uint32_t shares_memory = 0;  // with them
  std::uint64_t processors = 0;     // shared_memory::ProcessorSet::name
};
// By rank of the world; empty: they have not met.
const std::vector<NodeCard>& node_cards();

}  // namespace millrace::shim
