// Arguments of the Fortran bindings, read where they are: everything by reference, handles as INTEGER.
#pragma once

#include "shim/bind/word.h"

namespace millrace::shim::fortran {

inline int to_int(Word address) { return *static_cast<const int*>(as_pointer(address)); }

// C handles; the host's own null handle for an INTEGER that is none.
Word to_datatype(Word address);
Word to_op(Word address);
Word to_comm(Word address);
Word to_request(Word address);
Word to_win(Word address);

// MPI_BOTTOM, MPI_IN_PLACE and the like of this host's Fortran: addresses that stand for something else.
bool is_in_place(Word address);
bool is_sentinel(Word address);
// MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE, of any of the three interfaces.
bool is_status_ignore(Word address);

}  // namespace millrace::shim::fortran
