// Questions to the host whose answer may be an error that must not end the program.
#pragma once

#include "shim/word.h"

namespace millrace::shim {

// While it lives, errors without a communicator of their own are returned. They belong to MPI_COMM_SELF (MPI 4.0) or
// MPI_COMM_WORLD (before); what was replaced gets its former handler back (not MPI_COMM_SELF's on MPICH:
// host_probe.cpp). For use inside MPI_Init, when no other thread can be in MPI yet. Does nothing if `active` is false.
class ErrorsReturn {
 public:
  explicit ErrorsReturn(bool active);
  ~ErrorsReturn();
  ErrorsReturn(const ErrorsReturn&) = delete;
  ErrorsReturn& operator=(const ErrorsReturn&) = delete;

 private:
  bool active_;
  Word of_world_ = 0;
  Word of_self_ = 0;
};

// Whether this host returns from errors as it is told to. Intel's libmpi_abi.so does not: an optional type that it
// lacks ends the program whatever the error handlers are, so no library with the MPI-5 ABI but MPICH's own is asked
// anything.
bool host_returns_errors();

// Whether the host accepts this pair. What it refuses stays refused, with its own error, because we then leave the pair
// alone. No element is reduced: hosts check the pair first, and MPICH 4.0 and 5.0 end the program by an internal
// assertion when they then find no code for a pair that they have accepted (16-bit floats, some Fortran types).
bool host_reduces(Word datatype, Word op);

}  // namespace millrace::shim
