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
  // Intel MPI with more ranks than cores: 0.85 to 0.93 of it on 8 ranks of 2 cores.
  if (family == HostFamily::intel && crowded) {
    if (kind == Kind::allreduce && ranks > 4) return bytes >= 2 * mib;
    if (kind == Kind::bcast) return bytes >= 16 * mib;
  }
  return false;
}

// The same for the collectives that reduce nothing (docs/results/exchanges.md). `bytes`: of each block, or nothing
// where blocks differ (the v and w forms, neighbours): ranks do not know each other's, so those are always or never the
// host's.
constexpr bool host_exchanges_faster([[maybe_unused]] HostFamily family, [[maybe_unused]] collective::Kind kind,
                                     [[maybe_unused]] std::optional<std::uint64_t> bytes,
                                     [[maybe_unused]] std::uint32_t ranks, [[maybe_unused]] bool crowded) {
  return false;
}

}  // namespace millrace::plan
