// An element as the tests see it: a list of scalar fields at byte offsets. Written without a look at src/kernel/reduce,
// so that a mistake there is not repeated here.
#pragma once

#include <cstddef>
#include <vector>

#include "kernel/types.h"

namespace millrace::kernel::test {

struct Field {
  std::size_t offset_bytes;
  std::size_t bytes;  // that carry value: 10 for f80
  Type scalar;        // an integer or floating type
};

// One field; two for complex types (re, im) and pairs (value, index). Bytes in no field are gaps.
std::vector<Field> fields(Type type);

bool is_signed(Type scalar);

}  // namespace millrace::kernel::test
