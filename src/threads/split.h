// Which elements a part of a reduction gets.
#pragma once

#include <cstddef>

namespace millrace::threads {

struct Range {
  std::size_t begin = 0, end = 0;  // elements
};

// Parts are as equal as whole multiples of 64 elements are, so that with aligned buffers no two parts share a cache
// line; the last parts may be empty. parts >= 1, index < parts.
constexpr Range part_of(std::size_t elements, unsigned index, unsigned parts) {
  constexpr std::size_t grain = 64;
  const std::size_t grains = elements / grain + (elements % grain != 0);
  const std::size_t each = grains / parts, more = grains % parts;  // the first `more` parts have one grain more
  const auto first = [&](std::size_t part) {
    const std::size_t before = each * part + (part < more ? part : more);
    return before > elements / grain ? elements : before * grain;
  };
  return {first(index), first(std::size_t{index} + 1)};
}

}  // namespace millrace::threads
