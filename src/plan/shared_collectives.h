// Whether a collective inside a node is left to the host although memory is shared, because the host was measured to be
// faster (host_facts.h). Depends on what all ranks know to be equal.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "collective/selection.h"
#include "plan/host_facts.h"

namespace millrace::plan {

// Where `bytes` are those of each block and blocks may differ (the v and w forms, neighbours), they are negative: ranks
// do not know each other's. Not std::optional, for this is on the way of calls of 100 ns, and what GCC passes of one in
// two registers was stored in parts a moment ago and is read as a whole, which a processor waits for.

// What a table says instead, by kind (tuning.h).
using HostCollectives = std::array<std::optional<MessageRange>, static_cast<std::size_t>(collective::last_kind) + 1>;

inline std::optional<bool> host_does_by_table(const HostCollectives& table, collective::Kind kind, std::int64_t bytes) {
  const std::optional<MessageRange>& range = table[static_cast<std::size_t>(kind)];
  if (!range) return std::nullopt;
  return range->holds(bytes < 0 ? 1 : bytes);
}

// `crowded`: some rank of the group has no core of its own. `reads_memory`: its ranks may read each other's memory.
inline bool host_shares_faster(const HostFacts& facts, collective::Kind kind, std::size_t bytes, std::uint32_t ranks,
                               bool crowded, bool reads_memory) {
  const auto size = static_cast<std::int64_t>(bytes);
  if (crowded) {
    if (kind == collective::Kind::bcast) return size >= facts.crowded_bcast_from;
    return kind == collective::Kind::allreduce && ranks > 4 && size >= facts.crowded_allreduce_from;
  }
  if (kind != collective::Kind::bcast || ranks != 2) return false;
  return facts.bcast_of_two.holds(size) || (!reads_memory && facts.bcast_by_one_copy.holds(size));
}

// The same for the collectives that reduce nothing. Where blocks differ they are always or never the host's. Whether
// data have gaps, where we are far ahead, is not known to all ranks either.
inline bool host_exchanges_faster(const HostFacts& facts, collective::Kind kind, std::int64_t bytes,
                                  std::uint32_t ranks, bool crowded) {
  if (kind == collective::Kind::neighbor && crowded && facts.crowded_neighbors) return true;
  if (bytes >= 0)
    return kind == collective::Kind::gather && ranks == 2 && !crowded && bytes >= facts.gather_of_two_from;
  return (kind == collective::Kind::gather && facts.gathers_counted) ||
         (kind == collective::Kind::scatter && facts.scatters_counted);
}

// The same for the nonblocking ones.
inline bool host_begins_faster(const HostFacts& facts, collective::Kind kind, std::int64_t bytes, bool crowded) {
  using collective::Kind;
  if (kind == Kind::neighbor) return !crowded && facts.begun_neighbors;
  if (bytes < 0) return false;
  switch (kind) {
    case Kind::bcast: return !crowded && facts.begun_bcast.holds(bytes);
    case Kind::gather: return !crowded && bytes >= facts.begun_blocks_from;
    case Kind::scatter: return !crowded && bytes >= facts.begun_scatter_from;
    case Kind::allgather: return !crowded && facts.begun_allgather.holds(bytes);
    case Kind::alltoall: return bytes >= facts.begun_blocks_from;
    default: return false;
  }
}

// The same for a start of a persistent one.
inline bool host_starts_faster(const HostFacts& facts, collective::Kind kind, std::int64_t bytes, bool crowded) {
  using collective::Kind;
  constexpr std::int64_t allgathers_anew_from = 256 * kib;  // of two ranks, of more from less on
  if (facts.gathers_once && (kind == Kind::gather || (kind == Kind::allgather && bytes < allgathers_anew_from)))
    return false;
  if (host_begins_faster(facts, kind, bytes, crowded)) return true;
  const bool is_sent_on = kind == Kind::bcast || kind == Kind::allgather || kind == Kind::alltoall;
  const std::int64_t small_below = is_sent_on                ? facts.small_started_below
                                   : kind == Kind::allreduce ? facts.small_started_allreduce_below
                                                             : 0;
  return bytes >= 0 && !crowded && bytes < small_below;
}

}  // namespace millrace::plan
