// From what a datatype is told as to the bytes it means.
#pragma once

#include <cstdint>

#include "layout/description.h"
#include "layout/form.h"

namespace millrace::layout {

// A type on the way up the tree: its bytes and what its parents need to know of its bounds (MPI-5.0, 5.1.7).
struct Meaning {
  Item item;
  bool has_bounds = false;  // false: no bytes and no markers, lb = ub = 0
  bool is_marked = false;   // bounds were set by a resized inside: they are not stretched by what has none
  std::int64_t lb = 0, ub = 0;
  std::int64_t alignment = 1;

  std::int64_t extent() const;
};

// Throws Failure and std::bad_alloc. Not recursive: descriptions may be nested to any depth.
Meaning lower(const Description& description);

// One node whose children are known, one for each of description.children.
Meaning lower_node(const Description& description, const Meaning* const* children);
Meaning lower_subarray(const Description& description, const Meaning& child);
Meaning lower_darray(const Description& description, const Meaning& child);

// `count` copies, `stride_bytes` apart: bytes and bounds.
Meaning repeat(const Meaning& child, std::int64_t count, std::int64_t stride_bytes);

}  // namespace millrace::layout
