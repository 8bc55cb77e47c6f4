// The calls that begin nonblocking and persistent messages of derived types (MPI 4.1, 3.7 and 3.9), and those that
// start and free persistent ones. requests_complete.h has the others.
#pragma once

#include "shim/layout_call.h"

namespace millrace::shim {

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
