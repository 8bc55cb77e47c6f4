// A datatype of the host, read through MPI_Type_get_envelope and MPI_Type_get_contents (MPI 4.1, 5.1.13).
#pragma once

#include "layout/description.h"
#include "shim/bind/word.h"

namespace millrace::shim {

// The tree of constructors of a datatype that a call of the host has accepted; null if it holds something that we do
// not know (a combiner of a later MPI, a predefined type with gaps of its own that are not a pair's). Every handle that
// the host duplicates for us is freed again. May throw std::bad_alloc. Thread-safe.
layout::DescriptionPtr read_datatype(Word datatype);

}  // namespace millrace::shim
