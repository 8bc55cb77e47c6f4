// The oracle of the layout tests: a datatype written out entry by entry, as the definitions of MPI-5.0, chapter 5,
// read. Shares no code with src/layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "layout/description.h"

namespace millrace::layout::test {

struct Entry {
  std::int64_t displacement, size;  // contiguous bytes of a predefined type
};

struct Typemap {
  std::vector<Entry> entries;  // in packed order, none of size 0
  // For bounds: [displacement, displacement + extent) of each predefined type, and markers.
  struct Span {
    std::int64_t lb, ub;
  };
  std::vector<Span> types, markers;
  std::int64_t alignment = 1;
  std::int64_t lb = 0, ub = 0;

  std::int64_t size() const;
  std::int64_t true_lb() const;
  std::int64_t true_ub() const;
  std::int64_t extent() const { return ub - lb; }
  bool has_overlap(std::int64_t count) const;  // among the bytes of `count` elements
};

// Nothing if it has more than `most_entries` entries.
std::optional<Typemap> write_out(const Description& description, std::size_t most_entries);

}  // namespace millrace::layout::test
