// A communicator of the host's for this rank alone: questions whose answer may be an error that must not end the
// program, and requests of ours.
//
// Its handler returns errors. No handler of the program's is touched, not even for a moment: to MPICH and what is made
// of it, a handler that was set back to MPI_ERRORS_ARE_FATAL is not one that was never set. Duplicates inherit it, and
// errors without a communicator go to MPI_COMM_SELF's handler only if it has one.
#pragma once

#include "shim/bind/word.h"

namespace millrace::shim {

// Duplicates MPI_COMM_SELF, unless that was done before. Local. Inside MPI_Init, by one thread, when no other can be in
// MPI and there is nothing of the program's to be copied with it. Throws std::bad_alloc if the host has no communicator
// for us: ranks that know less than others must not take part.
void make_quiet_comm();
void free_quiet_comm() noexcept;

// 0: there is none (no world, or it is over).
Word quiet_comm();

// Whether this host returns from errors as it is told to. Intel's libmpi_abi.so does not: an optional type that it
// lacks ends the program whatever the error handlers are, so no library with the MPI-5 ABI but MPICH's own is asked
// anything.
bool host_returns_errors();

// Whether the host has this predefined datatype, so that its size may be asked for.
bool host_has_type(Word datatype);

// Whether the host accepts this pair. What it refuses stays refused, with its own error, because we then leave the pair
// alone. No element is reduced: hosts check the pair first, and MPICH 4.0 and 5.0 end the program by an internal
// assertion when they then find no code for a pair that they have accepted (16-bit floats, some Fortran types). One
// thread at a time: it is a collective call of one rank.
bool host_reduces(Word datatype, Word op);

// Whether the host accepts a datatype in calls that move data: it packs no element of it there. False also where there
// is no quiet communicator.
bool is_committed(Word datatype);

}  // namespace millrace::shim
