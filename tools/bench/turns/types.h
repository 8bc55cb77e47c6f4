// The datatypes of the bench.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace turns {

struct Type {
  const char* name;
  MPI_Datatype handle;  // committed; one element is all of it
  std::size_t bytes;    // of data
  std::size_t extent;   // of memory from the buffer's beginning that it reaches
};

// Eight types of about `bytes` of data. They live until the program ends.
std::vector<Type> types_of(std::size_t bytes);

}  // namespace turns
