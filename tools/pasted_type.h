// Calls of MPI_Type_ functions as they stand in a program, in C or Fortran, turned into the notation of datatypes
// (layout/notation.h): so that nobody has to write his type a second time.
#pragma once

#include <string>
#include <string_view>

namespace millrace::tools {

// Whether the text holds such a call at all.
bool is_pasted(std::string_view text);

struct PastedType {
  std::string notation;   // of the last type that is made; empty: it is not understood, then:
  std::string complaint;  // one line
};

// Calls that make types, one after the other: a type may be used by its name in those that follow. Numbers and arrays
// stand in the calls, or are defined before: `int lengths[] = {1, 2};`. Other statements are passed over.
PastedType read_pasted(std::string_view text);

}  // namespace millrace::tools
