// Nonblocking and persistent collectives that move data and reduce none, with derived datatypes: MPI_Ibcast and the
// relatives of exchange_call.h (MPI 4.1, 6.12, 6.13, 8.7 and 8.8).
#pragma once

#include "shim/packed/host_call.h"

namespace millrace::shim {

Word begin_exchange(HostCall call);

}  // namespace millrace::shim
