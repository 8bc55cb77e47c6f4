// How a large message is cut: into chunks that fit a slot, and a chunk into one slice per rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collective/group.h"

namespace millrace::collective {

struct Extent {
  std::size_t begin, elements;
};

struct Chunking {
  std::size_t elements, element_bytes, chunk_elements;
  std::uint64_t count;

  // Chunks of about `wanted_bytes`.
  Chunking(const Group& group, std::size_t all_elements, std::size_t bytes_each, std::size_t wanted_bytes)
      : elements(all_elements), element_bytes(bytes_each) {
    const std::size_t limit = std::min<std::size_t>(wanted_bytes, group.shape().slot_bytes);
    // A slot holds an element of each rank (collective.cpp saw to it), so there is no chunk without elements.
    chunk_elements = std::max(limit / bytes_each, std::size_t{1});
    count = (elements + chunk_elements - 1) / chunk_elements;
  }

  Extent chunk(std::uint64_t index) const {
    const std::size_t begin = index * chunk_elements;
    return {begin, std::min(chunk_elements, elements - begin)};
  }

  // The part of a chunk that `rank` reduces, from the chunk's beginning; whole cache lines where elements permit, so
  // that no line has two writers. May be empty.
  Extent slice(Extent chunk, std::uint32_t rank, std::uint32_t ranks) const {
    std::size_t each = (chunk.elements + ranks - 1) / ranks;
    if (64 % element_bytes == 0) each = (each + 64 / element_bytes - 1) / (64 / element_bytes) * (64 / element_bytes);
    const std::size_t begin = std::min(rank * each, chunk.elements);
    return {begin, std::min(each, chunk.elements - begin)};
  }
};

}  // namespace millrace::collective
