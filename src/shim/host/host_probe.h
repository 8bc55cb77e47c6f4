// Questions to the host whose answer may be an error that must not end the program.
//
// They are asked on a communicator of our own, whose handler returns errors. No handler of the program's is touched,
// not even for a moment: to MPICH and what is made of it, a handler that was set back to MPI_ERRORS_ARE_FATAL is not
// one that was never set. Duplicates inherit it, and errors without a communicator go to MPI_COMM_SELF's handler only
// if it has one.
#pragma once

#include "shim/bind/word.h"

namespace millrace::shim {

// While it lives, a duplicate of MPI_COMM_SELF exists. For use inside MPI_Init, when no other thread can be in MPI yet
// and there is nothing of the program's to be copied with it.
class HostProbe {
 public:
  // Throws std::bad_alloc if the host has no communicator for us: ranks that know less than others must not take part.
  HostProbe();
  ~HostProbe();
  HostProbe(const HostProbe&) = delete;
  HostProbe& operator=(const HostProbe&) = delete;

  // Whether the host has this predefined datatype, so that its size may be asked for.
  bool has_type(Word datatype) const;

  // Whether the host accepts this pair. What it refuses stays refused, with its own error, because we then leave the
  // pair alone. No element is reduced: hosts check the pair first, and MPICH 4.0 and 5.0 end the program by an internal
  // assertion when they then find no code for a pair that they have accepted (16-bit floats, some Fortran types).
  bool reduces(Word datatype, Word op) const;

 private:
  Word comm_ = 0;
};

// Whether this host returns from errors as it is told to. Intel's libmpi_abi.so does not: an optional type that it
// lacks ends the program whatever the error handlers are, so no library with the MPI-5 ABI but MPICH's own is asked
// anything.
bool host_returns_errors();

}  // namespace millrace::shim
