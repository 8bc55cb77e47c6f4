// Which blocks of nonblocking and persistent collectives of derived datatypes are packed by us, by the bytes of a
// block.
#pragma once

#include "plan/layout_messages.h"

namespace millrace::plan {

// Hosts move blocks of one call at two speeds: where messages go between neighbours or down a tree, as single messages,
// which Open MPI 5 packs in pieces while they travel; all else passes copies within a rank, which none of them is
// quick at.
enum class CollectiveClass : std::uint8_t { spread, exchange };  // spread: MPI_Ibcast and the neighbourhood's

struct CollectiveRow {
  HostFamily family;
  LayoutClass layout_class;
  MessageRange spread, exchange;
};

// Blocks of "8 KiB" of whole columns are of 8000 bytes, and those of "64 KiB" of 64000.
inline constexpr MessageRange from_1_kib{1 * kib, any_size}, from_8_kib{8000, any_size}, from_64_kib{64000, any_size};
inline constexpr MessageRange every_size{1, any_size}, only_1_kib{1 * kib, 1 * kib};

// Measured by bench/layouts/collective.c on two ranks, Zen 5 (docs/results/nonblocking_collectives.md): from the size
// on from which every call of the column won or drew. What is not listed is the host's.
inline constexpr CollectiveRow collective_rows[] = {
    {HostFamily::openmpi_4, LayoutClass::mixed, every_size, every_size},
    {HostFamily::openmpi_4, LayoutClass::blocks_4, from_1_kib, from_1_kib},
    {HostFamily::openmpi_4, LayoutClass::blocks_8, from_64_kib, from_8_kib},
    {HostFamily::openmpi_4, LayoutClass::sparse, from_64_kib, from_64_kib},
    {HostFamily::openmpi_4, LayoutClass::list_short, from_1_kib, from_1_kib},
    {HostFamily::openmpi_5, LayoutClass::mixed, every_size, every_size},
    {HostFamily::openmpi_5, LayoutClass::blocks_4, only_1_kib, from_1_kib},
    {HostFamily::openmpi_5, LayoutClass::blocks_8, only_1_kib, from_1_kib},
    {HostFamily::openmpi_5, LayoutClass::sparse, only_1_kib, from_1_kib},
    {HostFamily::openmpi_5, LayoutClass::list_short, from_1_kib, from_1_kib},
    {HostFamily::mpich_4, LayoutClass::mixed, every_size, every_size},
    {HostFamily::mpich_4, LayoutClass::blocks_4, from_1_kib, from_1_kib},
    {HostFamily::mpich_4, LayoutClass::blocks_8, from_8_kib, from_8_kib},
    {HostFamily::mpich_4, LayoutClass::blocks_32, from_8_kib, from_8_kib},
    {HostFamily::mpich_4, LayoutClass::blocks_128, from_64_kib, from_64_kib},
    {HostFamily::mpich_4, LayoutClass::sparse, from_8_kib, from_8_kib},
    {HostFamily::mpich_4, LayoutClass::list_short, from_64_kib, from_64_kib},
    {HostFamily::mpich_4, LayoutClass::list_long, from_8_kib, from_8_kib},
    {HostFamily::mpich_5, LayoutClass::mixed, every_size, every_size},
    {HostFamily::mpich_5, LayoutClass::blocks_4, from_1_kib, from_1_kib},
    {HostFamily::mpich_5, LayoutClass::blocks_8, from_1_kib, from_1_kib},
    {HostFamily::mpich_5, LayoutClass::blocks_32, from_8_kib, from_8_kib},
    {HostFamily::mpich_5, LayoutClass::blocks_128, from_8_kib, from_8_kib},
    {HostFamily::mpich_5, LayoutClass::blocks_1024, from_8_kib, from_8_kib},
    {HostFamily::mpich_5, LayoutClass::sparse, from_8_kib, from_8_kib},
    {HostFamily::mpich_5, LayoutClass::list_short, from_8_kib, from_8_kib},
    {HostFamily::mpich_5, LayoutClass::list_long, from_8_kib, from_8_kib},
    {HostFamily::intel, LayoutClass::mixed, every_size, every_size},
    {HostFamily::intel, LayoutClass::blocks_4, from_8_kib, from_8_kib},
    {HostFamily::intel, LayoutClass::blocks_8, from_8_kib, from_8_kib},
    {HostFamily::intel, LayoutClass::blocks_32, from_8_kib, from_8_kib},
    {HostFamily::intel, LayoutClass::blocks_128, from_8_kib, from_8_kib},
    {HostFamily::intel, LayoutClass::sparse, from_64_kib, from_8_kib},
    {HostFamily::intel, LayoutClass::list_short, from_1_kib, from_1_kib},
    {HostFamily::intel, LayoutClass::list_long, from_8_kib, from_8_kib},
};

constexpr MessageRanges collective_ranges(HostFamily family, CollectiveClass collective) {
  MessageRanges ranges{};
  for (const CollectiveRow& row : collective_rows)
    if (row.family == family)
      ranges[static_cast<std::size_t>(row.layout_class)] =
          collective == CollectiveClass::spread ? row.spread : row.exchange;
  return ranges;
}

}  // namespace millrace::plan
