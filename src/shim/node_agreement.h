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
// A communicator that sees no call of step 2 relies on what its ranks know of MPI_COMM_WORLD, which has all of them.
// That its ranks are all there they know from a synchronising call on a communicator of all ranks or, without one, from
// rounds (presence.h): at the 1st, 16th, 256th and 4096th collective on such communicators each rank looks for itself,
// and all come to the same answer. Not so if threads of a rank may call collectives at once: then calls have no order.
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
