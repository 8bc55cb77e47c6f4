// What the host says to calls that the standard forbids and hosts treat differently: the same buffer twice (MPICH and
// its relatives: MPI_ERR_BUFFER, in calls of which they can tell), blocks of a rank to itself whose ends differ (Open
// MPI: MPI_ERR_TRUNCATE). A host that refuses does so at once, on the rank that has them, and touches nothing. Such a
// rank does its part of our call for the others, and then leaves the error to the host.
//
// The host is asked, on a communicator of this rank alone and about buffers that it may change.
#pragma once

#include "shim/call/exchange_call.h"
#include "shim/shared/shared_collectives.h"

namespace millrace::shim {

// A call whose buffers are the same, or whose own block is sent from where it is received.
bool host_rejects_alias(const ExchangeCall& call);
// MPI_Reduce at the root and MPI_Allreduce.
bool host_rejects_alias(const CollectiveCall& call);
// A call of the kind of MPI_Alltoall(v, w) that sends this rank more or fewer bytes than it receives from itself.
bool host_compares_own_blocks(const ExchangeCall& call);

}  // namespace millrace::shim
