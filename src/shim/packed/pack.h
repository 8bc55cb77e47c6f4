// MPI_Pack and MPI_Unpack (MPI 4.1, 5.2) between the program's memory and its own buffer: every known host packs the
// bare bytes of the typemap, and so do we. Errors of position and size stay the host's.
#pragma once

#include "shim/packed/host_call.h"

namespace millrace::shim {

// What became of a call: done; to be forwarded as it is, since the host packs this type as fast; or to take the long
// way. Only while nothing is recorded.
enum class AtOnce : std::uint8_t { done, hosts, unknown };
AtOnce packed_at_once(Word in, std::int64_t count, Word datatype, Word out, std::int64_t out_bytes,
                      std::int64_t& position, Word comm);
AtOnce unpacked_at_once(Word in, std::int64_t in_bytes, std::int64_t& position, Word out, std::int64_t count,
                        Word datatype, Word comm);

// The long way: Fortran, recording, types that are not ready. Words of the entry, in its order.
Word pack_call(HostCall call);
Word unpack_call(HostCall call);

}  // namespace millrace::shim
