#include "plan/shared_collectives.h"

#include <algorithm>

#include "plan/host_facts.h"

namespace millrace::plan {

using collective::Kind;

bool host_shares_faster(HostFamily family, Kind kind, std::size_t bytes, std::uint32_t ranks, bool crowded,
                        bool reads_memory) {
  const HostFacts& facts = host_facts(family);
  const auto size = static_cast<std::int64_t>(bytes);
  if (crowded) {
    if (kind == Kind::bcast) return size >= facts.crowded_bcast_from;
    return kind == Kind::allreduce && ranks > 4 && size >= facts.crowded_allreduce_from;
  }
  if (kind != Kind::bcast || ranks != 2) return false;
  return facts.bcast_of_two.holds(size) || (!reads_memory && facts.bcast_by_one_copy.holds(size));
}

bool host_exchanges_faster(HostFamily family, Kind kind, std::optional<std::uint64_t> bytes, bool crowded) {
  const HostFacts& facts = host_facts(family);
  if (kind == Kind::neighbor && crowded && facts.crowded_neighbors) return true;
  const std::int64_t small_below = kind == Kind::gather    ? facts.small_gather_below
                                   : kind == Kind::scatter ? facts.small_scatter_below
                                                           : 0;
  if (!bytes) return small_below > 0;
  const auto size = static_cast<std::int64_t>(*bytes);
  if (kind == Kind::alltoall)
    return size < std::max(facts.small_alltoall_below, crowded ? facts.crowded_alltoall_below : 0);
  return size < small_below || (kind == Kind::gather && facts.middle_gather.holds(size));
}

}  // namespace millrace::plan
