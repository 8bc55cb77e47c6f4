// Whether a collective inside a node is left to the host although memory is shared, because the host was measured to be
// faster (host_facts.h). Depends on what all ranks know to be equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "collective/selection.h"
#include "plan/host_family.h"

namespace millrace::plan {

// `crowded`: some rank of the group has no core of its own. `reads_memory`: its ranks may read each other's memory.
bool host_shares_faster(HostFamily family, collective::Kind kind, std::size_t bytes, std::uint32_t ranks, bool crowded,
                        bool reads_memory);

// The same for the collectives that reduce nothing. `bytes`: of each block, or nothing where blocks differ (the v and w
// forms, neighbours): ranks do not know each other's, so those are always or never the host's. Whether data have gaps,
// where we are far ahead, is not known to all ranks either.
bool host_exchanges_faster(HostFamily family, collective::Kind kind, std::optional<std::uint64_t> bytes, bool crowded);

}  // namespace millrace::plan
