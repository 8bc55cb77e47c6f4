// Whether a collective inside a node is left to the host although memory is shared, because the host was measured to be
// faster (bench/collectives, docs/results/collectives.md). Depends on what all ranks know to be equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "collective/selection.h"
#include "plan/op_substitution.h"

namespace millrace::plan {

// `crowded`: some rank of the group has no core of its own. `reads_memory`: its ranks may read each other's memory.
constexpr bool host_shares_faster(HostFamily family, collective::Kind kind, std::size_t bytes, std::uint32_t ranks,
                                  bool crowded, bool reads_memory) {
  using collective::Kind;
  constexpr std::size_t kib = 1024;
  constexpr std::size_t mib = 1024 * kib;
  // A single copy out of the root's memory beats two through shared memory while both fit a cache: by two we were at
  // 0.74 to 0.95 of the host on 2 ranks, by one of our own at 0.99 to 1.31.
  const bool copies_once =
      family == HostFamily::openmpi_4 || family == HostFamily::openmpi_5 || family == HostFamily::mpich_4;
  if (copies_once && kind == Kind::bcast && ranks == 2 && !crowded && !reads_memory)
    return bytes >= 128 * kib && bytes < mib;
  // Intel MPI is ahead where nothing is in a cache: 0.67 to 0.84 of it cold, 0.70 to 0.75 with rotating roots; hot we
  // would be at 1.14 to 1.33.
  if (family == HostFamily::intel && kind == Kind::bcast && ranks == 2 && !crowded && bytes >= 64 * kib && bytes < mib)
    return true;
  // Intel MPI with more ranks than cores: 0.85 to 0.93 of it on 8 ranks of 2 cores.
  if (family == HostFamily::intel && crowded) {
    if (kind == Kind::allreduce && ranks > 4) return bytes >= 2 * mib;
    if (kind == Kind::bcast) return bytes >= 16 * mib;
  }
  return false;
}

// The same for the collectives that reduce nothing (docs/results/exchanges.md). `bytes`: of each
// block, or nothing where blocks differ (the v and w forms, neighbours): ranks do not know each other's, so those are
// always or never the host's. Whether data have gaps, where we are far ahead, is not known to all ranks either.
constexpr bool host_exchanges_faster(HostFamily family, collective::Kind kind, std::optional<std::uint64_t> bytes,
                                     bool crowded) {
  using collective::Kind;
  constexpr std::uint64_t kib = 1024;
  const bool is_openmpi = family == HostFamily::openmpi_4 || family == HostFamily::openmpi_5;
  const bool is_gather = kind == Kind::gather;
  const bool is_rooted = is_gather || kind == Kind::scatter;
  // Small messages that only the root waits for leave Open MPI and Intel MPI, and to the root MPICH 4, faster: 0.54 to
  // 0.88.
  std::uint64_t small_below = 0;
  if (is_rooted && (is_openmpi || family == HostFamily::intel)) small_below = 512;
  if (is_gather && family == HostFamily::mpich_4) small_below = 4 * kib;
  if (kind == Kind::alltoall && family == HostFamily::intel && bytes) small_below = 32 * kib;  // 0.84 at 4 KiB
  // With more ranks than cores, small messages to all: 0.64 to 1.02 of Open MPI and Intel MPI on 4 and 8 ranks of 2
  // cores; small ones to neighbours 0.47 to 0.80 of Open MPI, large ones 0.96 to 5.
  const bool is_crowded = crowded && (is_openmpi || family == HostFamily::intel);
  if (is_crowded && kind == Kind::alltoall && bytes && small_below < 4 * kib) small_below = 4 * kib;
  if (crowded && is_openmpi && kind == Kind::neighbor) return true;
  if (!bytes) return small_below > 0;
  // One reader of several large blocks: 0.77 to 0.94 at 256 KiB.
  const bool is_middle = *bytes > 32 * kib && *bytes < 2048 * kib;
  const bool reads_slowly = is_gather && is_middle && (is_openmpi || family == HostFamily::mpich_4);
  return *bytes < small_below || reads_slowly;
}

}  // namespace millrace::plan
