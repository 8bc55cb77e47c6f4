// The calls that begin nonblocking and persistent messages of derived types (MPI 4.1, 3.7 and 3.9), and those that
// start and free persistent ones. requests_complete.h has the others.
#pragma once

#include <memory>

#include "shim/packed/host_call.h"
#include "shim/packed/requests.h"

namespace millrace::shim {

using OperationPtr = std::unique_ptr<Operation>;

// The host has begun an operation whose request is at that position: from now on its completion is ours to notice. What
// has completed already is done with at once; hosts have one handle for all sends, and for all collectives of nothing
// to do, that have, which is why those must not be tracked. Receives have a status to keep, so each has a request of
// its own.
void begin(const HostCall& call, std::size_t request, OperationPtr operation);

Word isend_call(HostCall call);  // MPI_Isend, Ibsend, Issend, Irsend
Word irecv_call(HostCall call);
Word imrecv_call(HostCall call);
Word isendrecv_call(HostCall call);
Word isendrecv_replace_call(HostCall call);
Word send_init_call(HostCall call);  // MPI_Send_init, Bsend_init, Ssend_init, Rsend_init
Word recv_init_call(HostCall call);

Word start_call(HostCall call);
Word startall_call(HostCall call);
Word request_free_call(HostCall call);

}  // namespace millrace::shim
