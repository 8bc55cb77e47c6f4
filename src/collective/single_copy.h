// Reading and writing the memory of another rank: one copy by the kernel instead of two through shared memory. It may
// be forbidden (Yama, seccomp, user namespaces), so every rank of a group tries all others in Group::start(), and
// either all may or nobody does. Contention of many readers of one process: Chakraborty, Subramoni, Panda,
// "Contention-aware kernel-assisted MPI collectives for multi-/many-core systems", CLUSTER 2017.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collective/result.h"

namespace millrace::collective {

// Copies `bytes` at `from` in process `pid` to `to`. peer_died: there is no such process any more; not_supported: it
// may not, or no longer, be read, or not there: drivers map memory that only the processor can read. Then part of `to`
// may have been written.
Result read_memory(std::int32_t pid, std::uint64_t from, void* to, std::size_t bytes);
// The other way round.
Result write_memory(std::int32_t pid, std::uint64_t to, const void* from, std::size_t bytes);

}  // namespace millrace::collective
