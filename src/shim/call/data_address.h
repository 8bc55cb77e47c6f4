// Buffer arguments of both languages: MPI_BOTTOM and MPI_IN_PLACE are addresses of their own in Fortran.
#pragma once

#include "abi.h"
#include "shim/bind/word.h"
#include "shim/host/fortran.h"

namespace millrace::shim {

inline Word data_address(bool from_fortran, Word address) {
  return from_fortran && fortran::is_sentinel(address) ? 0 : address;
}
inline bool is_in_place(bool from_fortran, Word address) {
  return from_fortran ? fortran::is_in_place(address) : address == abi::in_place;
}

}  // namespace millrace::shim
