// How the ranks of a communicator come to use shared memory together.
//
// Ranks may run without Millrace (another program of an MPMD job), so they cannot simply be asked: a question put by a
// collective of our own would wait for them for ever. Agreement goes like this:
//   1. After MPI_Init a rank announces itself (presence.h).
//   2. The first collectives on a communicator go to the host. When a call that synchronises (MPI_Barrier,
//      MPI_Allreduce of at least one element) has returned, every member has entered it, so every member that will
//      ever announce itself has done so.
//   3. Each member now looks whether all members are present, and all find the same: who is missing was never there.
//      (Nobody can have left meanwhile: the first to leave would have had to miss somebody before.)
//   4. If all are there, all know it, and from now on may use the host's collectives on this communicator to agree on
//      the rest: same settings, memory that all could map.
// Communicators that see MPI_Bcast and MPI_Reduce only take step 2 from MPI_COMM_WORLD, if its ranks were all found
// before, unless threads may call collectives at once: then ranks may know different things at the same call.
#pragma once

#include "shim/communicators.h"

namespace millrace::shim {

// After MPI_Init, by one thread. Returns false if the host or the system refuses, and then nothing is ever shared.
bool prepare_agreement(int world_rank, int world_ranks);
void forget_agreement();  // before MPI_Finalize

// Every rank calls this after the host has done a collective on an undecided communicator. `synchronising`: nobody can
// have left that call before all had entered it. Collective when the communicator's turn has come.
void advance_agreement(Communicator& communicator, bool synchronising) noexcept;

}  // namespace millrace::shim
