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

#include "plan/op_substitution.h"

namespace millrace::plan {

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

struct MessageRow {
  HostFamily family;
  LayoutClass layout_class;
  MessageRange range;
};

inline constexpr std::int64_t any_size = INT64_MAX;
inline constexpr std::int64_t kib = 1024, mib = 1024 * kib;

// Measured by bench/layouts on two ranks (docs/results/layout_messages.md): sizes of a row were won by 1.03 or more at
// both ends, in ping-pongs and in halos, and no size between lost more than 0.03. What is not listed is the host's.
// Where the largest size measured, 4 MiB, was won, there is no limit but the memory for packed bytes
// (MILLRACE_BUFFERS).
inline constexpr MessageRow message_rows[] = {
    // Packs vectors in pieces while they travel: hard to beat with long blocks.
    {HostFamily::openmpi_4, LayoutClass::mixed, {1, any_size}},
    {HostFamily::openmpi_4, LayoutClass::blocks_4, {1 * kib, any_size}},
    {HostFamily::openmpi_4, LayoutClass::blocks_8, {8 * kib, any_size}},
    {HostFamily::openmpi_4, LayoutClass::blocks_32, {64 * kib, 64 * kib}},
    {HostFamily::openmpi_4, LayoutClass::blocks_128, {64 * kib, 64 * kib}},
    {HostFamily::openmpi_4, LayoutClass::list_short, {1 * kib, any_size}},
    {HostFamily::openmpi_5, LayoutClass::mixed, {1, any_size}},
    {HostFamily::openmpi_5, LayoutClass::blocks_4, {1 * kib, 1 * kib}},
    {HostFamily::openmpi_5, LayoutClass::blocks_8, {1 * kib, 1 * kib}},
    {HostFamily::openmpi_5, LayoutClass::sparse, {1 * kib, 1 * kib}},
    {HostFamily::openmpi_5, LayoutClass::list_short, {1 * kib, any_size}},
    // Fast where the message is eager, at a hundredth of the memory's speed beyond. Structures are received packed, but
    // not sent so (layout_message.cpp).
    {HostFamily::mpich_4, LayoutClass::mixed, {1, any_size}},
    {HostFamily::mpich_4, LayoutClass::blocks_4, {8 * kib, any_size}},
    {HostFamily::mpich_4, LayoutClass::blocks_8, {8 * kib, any_size}},
    {HostFamily::mpich_4, LayoutClass::blocks_32, {64 * kib, any_size}},
    {HostFamily::mpich_4, LayoutClass::blocks_128, {64 * kib, 64 * kib}},
    {HostFamily::mpich_4, LayoutClass::blocks_1024, {8 * kib, 8 * kib}},
    {HostFamily::mpich_4, LayoutClass::sparse, {60 * kib, any_size}},
    {HostFamily::mpich_4, LayoutClass::list_short, {64 * kib, any_size}},
    {HostFamily::mpich_4, LayoutClass::list_long, {64 * kib, any_size}},
    {HostFamily::mpich_5, LayoutClass::mixed, {1, any_size}},
    {HostFamily::mpich_5, LayoutClass::blocks_4, {8 * kib, any_size}},
    {HostFamily::mpich_5, LayoutClass::blocks_8, {8 * kib, any_size}},
    {HostFamily::mpich_5, LayoutClass::blocks_32, {8 * kib, any_size}},
    {HostFamily::mpich_5, LayoutClass::blocks_128, {8 * kib, 512 * kib}},
    {HostFamily::mpich_5, LayoutClass::blocks_1024, {8 * kib, 512 * kib}},
    {HostFamily::mpich_5, LayoutClass::sparse, {60 * kib, any_size}},
    {HostFamily::mpich_5, LayoutClass::list_short, {8 * kib, any_size}},
    {HostFamily::mpich_5, LayoutClass::list_long, {64 * kib, any_size}},
    {HostFamily::intel, LayoutClass::mixed, {1, any_size}},
    {HostFamily::intel, LayoutClass::blocks_4, {1 * kib, any_size}},
    {HostFamily::intel, LayoutClass::blocks_8, {1 * kib, any_size}},
    {HostFamily::intel, LayoutClass::blocks_32, {8 * kib, any_size}},
    {HostFamily::intel, LayoutClass::blocks_128, {8 * kib, 64 * kib}},
    {HostFamily::intel, LayoutClass::sparse, {1 * kib, any_size}},
    {HostFamily::intel, LayoutClass::list_short, {1 * kib, any_size}},
    {HostFamily::intel, LayoutClass::list_long, {7 * kib, any_size}},
};

// On processors of AMD these stand in place of the rows above; measured the same way on Zen 5.
inline constexpr MessageRow amd_message_rows[] = {
    {HostFamily::openmpi_4, LayoutClass::blocks_8, {1 * kib, any_size}},
    {HostFamily::openmpi_4, LayoutClass::blocks_32, {1 * kib, any_size}},
    {HostFamily::openmpi_4, LayoutClass::blocks_128, {16 * kib, 1 * mib}},
    {HostFamily::openmpi_4, LayoutClass::blocks_1024, {16 * kib, 1 * mib}},
    {HostFamily::openmpi_4, LayoutClass::sparse, {1 * kib, any_size}},
    {HostFamily::openmpi_4, LayoutClass::list_long, {2 * kib, 128 * kib}},
    {HostFamily::openmpi_5, LayoutClass::blocks_4, {16 * kib, 128 * kib}},
    {HostFamily::openmpi_5, LayoutClass::blocks_8, {1 * kib, 128 * kib}},
    {HostFamily::openmpi_5, LayoutClass::blocks_32, {1 * kib, 64 * kib}},
    {HostFamily::openmpi_5, LayoutClass::blocks_128, {16 * kib, 64 * kib}},
    {HostFamily::openmpi_5, LayoutClass::blocks_1024, {16 * kib, 64 * kib}},
    {HostFamily::openmpi_5, LayoutClass::sparse, {8000, 64000}},
    {HostFamily::openmpi_5, LayoutClass::list_long, {2 * kib, any_size}},
    {HostFamily::mpich_4, LayoutClass::blocks_4, {1 * kib, any_size}},
    {HostFamily::mpich_4, LayoutClass::blocks_32, {8 * kib, any_size}},
    {HostFamily::mpich_4, LayoutClass::sparse, {16000, any_size}},
    {HostFamily::mpich_4, LayoutClass::list_short, {16 * kib, any_size}},
    {HostFamily::mpich_5, LayoutClass::blocks_4, {4 * kib, any_size}},
    {HostFamily::mpich_5, LayoutClass::blocks_128, {8 * kib, any_size}},
    {HostFamily::mpich_5, LayoutClass::blocks_1024, {8 * kib, any_size}},
    {HostFamily::mpich_5, LayoutClass::sparse, {16000, any_size}},
    {HostFamily::mpich_5, LayoutClass::list_long, {32 * kib, any_size}},
    {HostFamily::intel, LayoutClass::blocks_32, {2 * kib, any_size}},
    {HostFamily::intel, LayoutClass::blocks_128, {8 * kib, any_size}},
    {HostFamily::intel, LayoutClass::list_long, {4 * kib, any_size}},
};

constexpr MessageRanges message_ranges(HostFamily family, bool on_amd) {
  MessageRanges ranges{};
  const auto put = [&](const MessageRow& row) {
    if (row.family == family) ranges[static_cast<std::size_t>(row.layout_class)] = row.range;
  };
  for (const MessageRow& row : message_rows) put(row);
  if (on_amd)
    for (const MessageRow& row : amd_message_rows) put(row);
  return ranges;
}

}  // namespace millrace::plan
