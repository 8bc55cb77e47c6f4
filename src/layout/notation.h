// Datatypes as text, for `millrace explain-type`, messages and tests:
//
//   vector(1000, 1, 1000, double)
//   struct([1, 1, 3], [0, 8, 16], [int, double, char])
//   resized(0, 8, subarray([100, 100], [10, 10], [5, 5], c, float))
//   darray(4, 0, [100, 100], [block, cyclic], [default, 2], [2, 2], fortran, double)
//
// The arguments are those of the MPI_Type_ functions, in their order: lists take the place of counts and arrays, names
// may begin with MPI_ and have any case. `T@[lb, extent]` says what bounds the host gives to T.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "layout/description.h"

namespace millrace::layout {

struct Parsed {
  DescriptionPtr description;  // null if the text is wrong; then:
  std::size_t position = 0;    // of the first character that does not fit
  std::string complaint;       // one line
};

// Understands the C names of the predefined types (int, unsigned_long, double_int, ...) and those of Fortran (integer,
// double_precision, ...) with the sizes that they have on 64-bit Linux. May throw std::bad_alloc.
Parsed parse_notation(std::string_view text);

// The reverse. Predefined types are written by the names in the description, which parse_notation need not know.
std::string notation_of(const Description& description);

}  // namespace millrace::layout
