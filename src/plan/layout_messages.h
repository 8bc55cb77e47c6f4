// Which messages of derived datatypes are packed by us before they go to the host, and unpacked by us when they came.
//
// A rank does not know how its peer moves the same message: packed bytes and the datatype's own are the same message
// to every host, so each side decides for itself, by its own type and count. The thresholds are those of both sides
// deciding alike, which is the usual case; what one side alone gains or loses stands beside them in
// docs/results/layout_messages.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace millrace::plan {

struct HostFacts;

// Layouts that a host moves at about the same speed.
enum class LayoutClass : std::uint8_t {
  mixed,       // predefined types of several sizes: structures
  blocks_4,    // loops of equal blocks of up to 4 bytes, blocks and gaps of the same order
  blocks_8,    // ... of up to 8
  blocks_32,   // ... of up to 32
  blocks_128,  // ... of up to 128
  blocks_1024,
  sparse,      // every block in a cache line of its own: columns of a wide matrix
  list_short,  // lists of blocks of up to 16 bytes
  list_long,   // lists of longer ones
  count
};
inline constexpr std::size_t layout_classes = static_cast<std::size_t>(LayoutClass::count);

constexpr const char* layout_class_name(LayoutClass layout_class) {
  constexpr std::array<const char*, layout_classes> names{
      "mixed", "blocks_4", "blocks_8", "blocks_32", "blocks_128", "blocks_1024", "sparse", "list_short", "list_long"};
  return names[static_cast<std::size_t>(layout_class)];
}

// `touched_bytes`: from the first byte of the message to its last, gaps included.
constexpr LayoutClass layout_class(bool is_mixed, bool is_list, std::int64_t mean_block_bytes,
                                   std::int64_t packed_bytes, std::int64_t touched_bytes) {
  if (is_mixed) return LayoutClass::mixed;
  if (mean_block_bytes < 64 && touched_bytes / 8 >= packed_bytes) return LayoutClass::sparse;
  if (is_list) return mean_block_bytes <= 16 ? LayoutClass::list_short : LayoutClass::list_long;
  if (mean_block_bytes <= 4) return LayoutClass::blocks_4;
  if (mean_block_bytes <= 8) return LayoutClass::blocks_8;
  if (mean_block_bytes <= 32) return LayoutClass::blocks_32;
  return mean_block_bytes <= 128 ? LayoutClass::blocks_128 : LayoutClass::blocks_1024;
}

// Packed bytes of the messages that are ours: from the least to the most, both included; none if most < least.
struct MessageRange {
  std::int64_t least_bytes = 1;
  std::int64_t most_bytes = 0;
  constexpr bool holds(std::int64_t bytes) const { return bytes >= least_bytes && bytes <= most_bytes; }
};
using MessageRanges = std::array<MessageRange, layout_classes>;

inline constexpr std::int64_t any_size = INT64_MAX;
inline constexpr std::int64_t kib = 1024, mib = 1024 * kib;

// Those of a host (host_facts.h).
MessageRanges message_ranges(const HostFacts& facts);

}  // namespace millrace::plan
