// MPI_Pack and MPI_Unpack (MPI 4.1, 5.2) between the program's memory and its own buffer: every known host packs the
// bare bytes of the typemap, and so do we. Errors of position and size stay the host's.
#pragma once

#include "shim/layout_call.h"

namespace millrace::shim {

// True if the call is done; false if it must take the long way. Only while nothing is recorded.
bool packed_at_once(Word in, std::int64_t count, Word datatype, Word out, std::int64_t out_bytes,
                    std::int64_t& position, Word comm);
bool unpacked_at_once(Word in, std::int64_t in_bytes, std::int64_t& position, Word out, std::int64_t count,
                      Word datatype, Word comm);

// The long way: Fortran, recording, types that are not ready. Words of the entry, in its order.
Word pack_call(HostCall call);
Word unpack_call(HostCall call);

}  // namespace millrace::shim
