// Arguments of the Fortran bindings, read where they are: everything by reference, handles as INTEGER.
#pragma once

#include <cstddef>

#include "abi.h"
#include "shim/bind/word.h"

namespace millrace::shim::fortran {

inline int to_int(Word address) { return *static_cast<const int*>(as_pointer(address)); }

// How long a handle of Fortran is, in arrays, too. An INTEGER; but the routines of Intel's library with the MPI-5 ABI
// that do not come through C entries (mpi_f08) have C handles where the standard has integers.
bool has_c_handles();  // of a library with that ABI
inline std::size_t handle_bytes() {
  if constexpr (abi::fortran_handles != FortranHandles::mpi_5) return sizeof(int);
  return has_c_handles() ? sizeof(Word) : sizeof(int);
}

// C handles; the host's own null handle for an INTEGER that is none.
Word to_datatype(Word address);
Word to_op(Word address);
Word to_comm(Word address);
Word to_request(Word address);
Word to_win(Word address);

// And back, for what is an INTEGER in every host.
int of_datatype(Word handle);
int of_op(Word handle);
void store_request(Word address, Word handle);

// MPI_BOTTOM, MPI_IN_PLACE and the like of this host's Fortran: addresses that stand for something else.
bool is_in_place(Word address);
bool is_sentinel(Word address);
// In Fortran a status is the C one, as an array of INTEGER, in every host but Intel's with the MPI-5 ABI, whose
// routines step through arrays of them as through MPICH's, which are shorter. False while no Fortran of such a host is
// loaded.
bool statuses_differ();
// MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE, of any of the three interfaces.
bool is_status_ignore(Word address);

}  // namespace millrace::shim::fortran
