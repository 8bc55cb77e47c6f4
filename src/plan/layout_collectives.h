// Which blocks of nonblocking and persistent collectives of derived datatypes are packed by us, by the bytes of a
// block.
#pragma once

#include "plan/layout_messages.h"

namespace millrace::plan {

// Hosts move blocks of one call at two speeds: where messages go between neighbours or down a tree, as single messages,
// which Open MPI 5 packs in pieces while they travel; all else passes copies within a rank, which none of them is
// quick at.
enum class CollectiveClass : std::uint8_t { spread, exchange };  // spread: MPI_Ibcast and the neighbourhood's

// Those of a host (host_facts.h).
MessageRanges collective_ranges(const HostFacts& facts, CollectiveClass collective);

}  // namespace millrace::plan
