// Who came late to collective calls, and how long this rank waited for him: for the report, and only while one is asked
// for. Of blocking collectives on communicators whose ranks share memory on one node, whoever does the call: the ranks
// have one clock, and a place to say when they came (node/arrivals.h). Of others nothing is said: clocks of nodes
// differ.
#pragma once

#include <cstdint>

#include "record/rank_record.h"
#include "shim/node/communicators.h"
#include "shim/shared/shared_collectives.h"

namespace millrace::shim {

// This rank comes to a call on a communicator that is active.
// `ticks`: of clock_ticks(), when the program made the call.
void came_to_call(Communicator& communicator, std::uint64_t ticks) noexcept;
// It has been done, by whomever. `entry`: which one; `ticks`: when.
void left_call(const Communicator& communicator, const CollectiveCall& call, std::uint16_t entry,
               std::uint64_t ticks) noexcept;
// It has failed here: others count it as another one, and nothing is compared on this communicator any more.
void failed_in_call(Communicator& communicator) noexcept;

// So far, but for the last 31 short calls of a communicator that still is there. Thread-safe.
record::Waits waits(double ns_per_tick);

}  // namespace millrace::shim
