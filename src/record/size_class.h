// Calls are told apart by how many bytes they post: none, 1, 2 and 3, 4 to 7, and so on by powers of two.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace millrace::record {

inline constexpr std::size_t size_class_count = 48;  // the last one is of 64 TiB and more

constexpr std::size_t size_class(std::uint64_t bytes) {
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(bytes)), size_class_count - 1);
}

constexpr std::uint64_t least_bytes_of(std::size_t size_class) {
  return size_class == 0 ? 0 : std::uint64_t{1} << (size_class - 1);
}

}  // namespace millrace::record
