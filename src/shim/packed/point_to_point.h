// Messages of derived types (MPI 4.1, 3.2 to 3.10) packed and unpacked by layouts, with the host carrying the bytes.
//
// Legal on one side alone: a message matches by the signature of its bytes, no known host checks more, and none of them
// packs other bytes than MPI_Pack's. Matching, order, errors, truncation and status are the host's own, because its own
// call is made, with MPI_BYTE and as many bytes as the datatype has. What cannot be ours goes to it untouched.
#pragma once

#include "shim/packed/host_call.h"

namespace millrace::shim {

Word send_call(HostCall call);             // MPI_Send, Bsend, Ssend, Rsend
Word receive_call(HostCall call);          // MPI_Recv
Word matched_receive_call(HostCall call);  // MPI_Mrecv
Word send_receive_call(HostCall call);     // MPI_Sendrecv
Word send_receive_replace_call(HostCall call);

}  // namespace millrace::shim
