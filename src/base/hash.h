// Hashes for tables and digests of our own; nobody who wants them to collide is kept from it.
#pragma once

#include <cstdint>
#include <string_view>

namespace millrace {

inline constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15u;

// Multiplicative hashing (Knuth, volume 3, 6.4): the upper bits depend on all bits of the value.
constexpr std::uint64_t spread(std::uint64_t value) { return value * golden_ratio; }

inline constexpr std::uint64_t fnv1a_start = 0xcbf29ce484222325u;
constexpr std::uint64_t fnv1a(std::uint64_t hash, unsigned char byte) { return (hash ^ byte) * 0x100000001b3u; }
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = fnv1a_start) {
  for (const char letter : text) hash = fnv1a(hash, static_cast<unsigned char>(letter));
  return hash;
}

}  // namespace millrace
