// The answer of the host about how one datatype was made, in one form for hosts with and without large counts.
#pragma once

#include <cstdint>
#include <vector>

#include "shim/bind/word.h"

namespace millrace::shim {

// The lists of MPI_Type_get_contents. Constructors called with large counts leave `counts` filled where those called
// with int leave `integers` (and addresses); `is_large` says which.
struct Contents {
  int combiner = 0;
  bool is_large = false;
  std::vector<int> integers;
  std::vector<std::int64_t> addresses;
  std::vector<std::int64_t> counts;
  std::vector<Word> datatypes;  // those that are not predefined belong to the reader, who frees them
};

// How a datatype was made; -1 if the host gave an error. Predefined types are named or Fortran's kinds
// (MPI_Type_create_f90_*), which have no name and must not be freed either.
int read_combiner(Word datatype);
bool is_predefined_combiner(int combiner);

// False if the host gave an error. A predefined type has no contents. May throw std::bad_alloc.
bool read_contents(Word datatype, Contents& contents);

}  // namespace millrace::shim
