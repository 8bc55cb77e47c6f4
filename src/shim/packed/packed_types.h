// Datatypes that stand for packed elements of another: the same size, and no more than that of extent.
//
// A collective that is given packed blocks with these has the same count and the same size of type as before, so a host
// that chooses an algorithm, or cuts a message, by them does what it does on the ranks whose blocks are not packed.
#pragma once

#include <cstdint>

#include "shim/bind/word.h"

namespace millrace::shim {

struct PackedType {
  Word handle = 0;  // committed; lives until forget_packed_types()
  int fortran_handle = 0;
};

// Of `size_bytes`, 1 .. 2^31-1. handle 0: the host refuses, or so many sizes are known already that the call is better
// left to the host. Thread-safe; never throws.
PackedType packed_type(std::int64_t size_bytes) noexcept;
void forget_packed_types();  // before MPI_Finalize

}  // namespace millrace::shim
