// How a layout is run: the form, with a method chosen for every loop in it, and the repetition over the elements of a
// call as one more loop, whose count is known only then.
#pragma once

#include <cstdint>

#include "layout/form.h"

namespace millrace::layout {

struct Plan {
  Item root;      // one element
  Body elements;  // what the elements of a call repeat; child is at `first_displacement`, moved to 0
  std::int64_t first_displacement = 0;
  // One element that is a strided loop with something prepared: the most frequent call of all, a vector, at once.
  const kernel::Strided* single = nullptr;
  std::int64_t single_blocks = 0;
  std::int64_t rounds_per_element = 1;  // iterations of `elements` in one element
  bool is_contiguous_repeated = false;  // the blocks of neighbouring elements touch: any count is one block

  std::int64_t mean_block_bytes = 0;  // of one element
};

// Chooses methods for everything below `root` and for its repetition at `extent_bytes`. Throws std::bad_alloc.
void prepare(Plan& plan, Item root, std::int64_t extent_bytes);

// For texts: "strided", "nest", "pattern", "each".
const char* method_name(Method method);

}  // namespace millrace::layout
